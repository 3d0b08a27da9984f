import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, merge, post, thing, things } from './requests.ts';

function rejectedSpec(name: string, spec: JsonObject, status = 422): ContractCase {
  return {
    name: `${name} is rejected`,
    ranked: name.includes('twice') ? [42, 43] : [42],
    steps: [post(things, thing(spec), { status })],
  };
}

function metadataCase(name: string, metadata: JsonObject, status: number): ContractCase {
  return {
    name: `metadata with ${name} answers ${status}`,
    steps: [
      post(things, thing({}, metadata), { status }),
      post(configMaps, configMap({}, metadata), { status }),
    ],
  };
}

const owner = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'o',
  uid: '11111111-1111-4111-8111-111111111111',
};

function secret(more: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, ...more };
}

const secrets = '/api/v1/namespaces/$(ns)/secrets';

export const validations: readonly ContractCase[] = [
  rejectedSpec('a number that is too large', { size: 11 }),
  rejectedSpec('a number that is too small', { size: 0 }),
  rejectedSpec('a text that is too long', { title: 'abcdef' }),
  rejectedSpec('a text that is too short', { title: 'a' }),
  rejectedSpec('a text that does not match', { title: 'ABC' }),
  rejectedSpec('a value that is not listed', { color: 'blue' }),
  rejectedSpec('a text for a number', { size: 'x' }),
  rejectedSpec('a fraction for an integer', { size: 1.5 }),
  rejectedSpec('a number for a text', { title: 5 }),
  rejectedSpec('a number for a flag', { on: 1 }),
  rejectedSpec('a text for a struct', { nested: 'x' }),
  rejectedSpec('a list for a map', { labels: [] }),
  rejectedSpec('a struct for a list', { tags: {} }),
  rejectedSpec('a flag for int-or-string', { target: true }),
  rejectedSpec('a missing field', { nested: { b: 'x' } }),
  rejectedSpec('too many items', { tags: ['a', 'b', 'c', 'd'] }),
  rejectedSpec('too few items', { args: [] }),
  rejectedSpec('a set with an item twice', { tags: ['a', 'a'] }),
  rejectedSpec('a list map with a key twice', { ports: [{ port: 1 }, { port: 1 }] }),
  rejectedSpec('a list map with a name twice', {
    items: [{ name: 'a' }, { name: 'b' }, { name: 'a' }],
  }),
  rejectedSpec('a list map item without its key', { items: [{ value: 1 }] }),
  rejectedSpec('a text that is no time', { when: 'yesterday' }),
  rejectedSpec('a value of a map of another type', { labels: { a: 1 } }),
  rejectedSpec('a null item', { tags: [null] }),
  rejectedSpec('several mistakes at once', { size: 99, title: 'ABCDEFG', color: 'blue' }),
  rejectedSpec('a template without a kind', { template: { metadata: { name: 'x' } } }),
  {
    name: 'nulls: kept where nullable, replaced by a default, else dropped',
    ranked: [44],
    steps: [
      post(
        things,
        thing({
          maybe: null,
          level: null,
          size: null,
          nested: { a: 'x', b: null },
          free: { a: null },
        }),
        {
          status: 201,
          body: { spec: { level: 3, nested: { a: 'x', b: null }, free: {} } },
        },
      ),
    ],
  },
  {
    name: 'int-or-string takes both, free-form parts take anything, templates keep their metadata',
    ranked: [45],
    steps: [
      post(
        things,
        thing({
          target: 5,
          free: { a: [1, { b: null }], c: {} },
          template: {
            apiVersion: 'v1',
            kind: 'X',
            metadata: { name: 'a', labels: {} },
            other: { x: 1 },
          },
        }),
        { status: 201 },
      ),
      post(
        things,
        thing({ target: '50%', ratio: 1, when: '2026-01-01T00:00:00+02:00' }, { name: 'y' }),
        { status: 201 },
      ),
    ],
  },
  {
    name: 'an invalid value does not come by a patch, of the status neither',
    ranked: [42],
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }),
      merge(`${things}/x`, { spec: { size: 11 } }, { status: 422 }),
      merge(`${things}/x/status`, { status: { ready: 'x' } }, { status: 422 }),
      merge(`${things}/x/status`, { status: { conditions: [{ status: 'x' }] } }, { status: 422 }),
    ],
  },
  {
    name: 'the body of a custom resource must be a struct of the right types at the top',
    steps: [
      post(things, { apiVersion: '$(group)/v1', kind: 'Thing', metadata: 'x' }, { status: 400 }),
      post(
        things,
        { apiVersion: '$(group)/v1', kind: 'Thing', metadata: { name: 'x' }, spec: 'x' },
        { status: 422 },
      ),
      post(
        things,
        { apiVersion: '$(group)/v1', kind: 'Thing', metadata: { name: 'x' }, spec: null },
        { status: 201 },
      ),
    ],
  },
  metadataCase('a label key that is none', { labels: { 'a b': 'x' } }, 422),
  metadataCase('a label value that is none', { labels: { a: 'x y' } }, 422),
  metadataCase('a label value that is too long', { labels: { a: 'x'.repeat(64) } }, 422),
  metadataCase('a prefix that is none', { labels: { 'A_/b': 'x' } }, 422),
  metadataCase('an annotation key with two slashes', { annotations: { 'a/b/c': 'x' } }, 422),
  metadataCase('an annotation key in capitals', { annotations: { 'Demo.io/A': 'x' } }, 201),
  metadataCase('annotations that are too large', { annotations: { a: 'x'.repeat(262_144) } }, 422),
  metadataCase('an owner without a uid', { ownerReferences: [{ ...owner, uid: '' }] }, 422),
  metadataCase(
    'an owner without a name',
    { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', uid: 'u' }] },
    422,
  ),
  metadataCase('an owner', { ownerReferences: [owner] }, 201),
  metadataCase(
    'two controllers',
    {
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, uid: 'other', controller: true },
      ],
    },
    422,
  ),
  metadataCase('a finalizer that is no name', { finalizers: ['a b'] }, 422),
  metadataCase('a label that is a number', { labels: { a: 1 } }, 400),
  metadataCase('labels that are a list', { labels: ['a'] }, 400),
  metadataCase('finalizers that are a text', { finalizers: 'a' }, 400),
  metadataCase('two policies of deletion', { finalizers: ['orphan', 'foregroundDeletion'] }, 422),
  {
    name: 'a finalizer without a domain is warned of, and rejected for built-in kinds',
    steps: [
      post(things, thing({}, { finalizers: ['mine', 'demo.io'] }), { status: 201 }),
      post(configMaps, configMap({}, { finalizers: ['mine'] }), { status: 422 }),
      post(configMaps, configMap({}, { finalizers: ['orphan'] }), { status: 201 }),
    ],
  },
  ...Object.entries<Json>({
    'a key that is none': configMap({ 'a b': 'x' }),
    'a key that is a dot': configMap({ '.': 'x' }),
    'a key in data and binaryData': { ...configMap({ a: 'x' }), binaryData: { a: 'eA==' } },
    'data that is too large': configMap({ a: 'x'.repeat(1_048_577) }),
  }).map(
    ([name, body]): ContractCase => ({
      name: `a ConfigMap with ${name} is rejected`,
      steps: [post(configMaps, body, { status: 422 })],
    }),
  ),
  ...Object.entries<Json>({
    'a number for a text': configMap({ a: 1 }),
    'a list for a map': { ...configMap({}), data: ['a'] },
    'a text for a map': { ...configMap({}), data: 'a' },
    'a text for a flag': { ...configMap({}), immutable: 'yes' },
    'binary data that is no base64': { ...configMap({}), binaryData: { a: '%' } },
    'metadata that is a text': { apiVersion: 'v1', kind: 'ConfigMap', metadata: 'x' },
  }).map(
    ([name, body]): ContractCase => ({
      name: `a ConfigMap with ${name} cannot be read`,
      steps: [post(configMaps, body, { status: 400 })],
    }),
  ),
  {
    name: 'null values of a ConfigMap are empty texts',
    steps: [
      post(
        configMaps,
        { ...configMap({ a: null }), binaryData: null },
        { status: 201, body: { data: { a: '' } } },
      ),
    ],
  },
  {
    name: 'Secrets have types with keys of their own, which stay',
    steps: [
      post(secrets, secret({ stringData: { a: 'x' } }), {
        status: 201,
        body: { type: 'Opaque', data: { a: 'eA==' } },
      }),
      merge(`${secrets}/x`, { type: 'other' }, { status: 422 }),
      merge(`${secrets}/x`, { stringData: { b: 'y' } }, { status: 200 }),
      post(
        secrets,
        { ...secret({ type: 'kubernetes.io/tls' }), metadata: { name: 'y' } },
        { status: 422 },
      ),
      post(
        secrets,
        {
          ...secret({
            type: 'kubernetes.io/dockerconfigjson',
            data: { '.dockerconfigjson': 'e30=' },
          }),
          metadata: { name: 'y' },
        },
        { status: 201 },
      ),
    ],
  },
  {
    name: 'an Event is about something in its namespace',
    steps: [
      post(
        '/api/v1/namespaces/$(ns)/events',
        {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name: 'x' },
          involvedObject: { kind: 'ConfigMap', name: 'x', namespace: '$(ns)' },
          reason: 'R',
          message: 'M',
          type: 'Normal',
          firstTimestamp: '2026-01-01T00:00:00Z',
          count: 1,
          source: { component: 'c' },
        },
        { status: 201 },
      ),
      post(
        '/api/v1/namespaces/$(ns)/events',
        {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name: 'y' },
          involvedObject: { kind: 'ConfigMap', name: 'x', namespace: 'other' },
        },
        { status: 422 },
      ),
      merge(
        '/api/v1/namespaces/$(ns)/events/x',
        { count: 2, lastTimestamp: '2026-01-01T00:00:01.5+01:00' },
        { status: 200 },
      ),
    ],
  },
  {
    name: 'a ServiceAccount is kept as it is',
    steps: [
      post(
        '/api/v1/namespaces/$(ns)/serviceaccounts',
        {
          apiVersion: 'v1',
          kind: 'ServiceAccount',
          metadata: { name: 'x' },
          automountServiceAccountToken: false,
          imagePullSecrets: [{ name: 'a' }],
        },
        { status: 201, body: { automountServiceAccountToken: false } },
      ),
    ],
  },
];
