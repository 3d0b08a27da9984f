import type { JsonObject } from '../../../src/util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import {
  apply,
  applyType,
  configMap,
  configMaps,
  get,
  merge,
  plain,
  plains,
  post,
  put,
  thing,
  things,
} from './requests.ts';

const save = { rv: 'metadata.resourceVersion' };
const x = `${things}/x`;

interface Said {
  readonly by: string;
  readonly spec: JsonObject;
  readonly force?: boolean;
  readonly status?: number;
}

/** Applies to a Thing one after the other; the last answer has this spec. */
function applied(name: string, steps: readonly Said[], spec: JsonObject): ContractCase {
  return {
    name,
    steps: [
      ...steps.map(({ by, spec: said, force, status }, index) =>
        apply({
          to: x,
          by,
          body: thing(said),
          ...(force === undefined ? {} : { force }),
          expect: { status: status ?? (index === 0 ? 201 : 200) },
        }),
      ),
      get(x, { status: 200, body: { spec } }),
    ],
  };
}

export const applies: readonly ContractCase[] = [
  {
    name: 'the same apply again changes nothing',
    steps: [
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1, tags: ['a'] }),
        expect: { status: 201 },
        save,
      }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1, tags: ['a'] }),
        expect: { status: 200, body: { metadata: { resourceVersion: '$(rv)' } } },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1' }),
        expect: { status: 201 },
        save,
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1' }),
        expect: { status: 200, body: { metadata: { resourceVersion: '$(rv)' } } },
      }),
    ],
  },
  {
    name: 'another value of another manager conflicts, unless forced',
    steps: [
      apply({ to: x, by: 'a', body: thing({ size: 1, title: 'abc' }), expect: { status: 201 } }),
      apply({
        to: x,
        by: 'b',
        body: thing({ size: 2 }),
        expect: {
          status: 409,
          message: /^Apply failed with 1 conflict: conflict with "a": \.spec\.size$/,
        },
      }),
      apply({
        to: x,
        by: 'b',
        body: thing({ size: 2, title: 'xyz' }),
        expect: { status: 409, message: /2 conflicts/ },
      }),
      apply({
        to: x,
        by: 'b',
        body: thing({ size: 2, title: 'xyz' }),
        force: true,
        expect: { status: 200 },
      }),
    ],
  },
  {
    name: 'a conflict with an updater names its version, one with a status writer its subresource',
    steps: [
      post(`${things}?fieldManager=u`, thing({ size: 1 }), { status: 201 }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 2 }),
        expect: { status: 409, message: /"u" using contract\.demo\.io\/v1/ },
      }),
      merge(`${x}/status?fieldManager=s`, { status: { phase: 'x' } }, { status: 200 }),
      apply({
        to: `${x}/status`,
        by: 'a',
        body: { ...thing({}), status: { phase: 'y' } },
        expect: { status: 409, message: /with subresource "status"/ },
      }),
      apply({
        to: `${x}/status`,
        by: 'a',
        body: { ...thing({ size: 9 }), status: { ready: 1 } },
        expect: { status: 200, body: { spec: { size: 1 }, status: { ready: 1 } } },
      }),
      apply({
        to: x,
        by: 'a',
        body: { ...thing({}), status: { ready: 9 } },
        expect: { status: 200, body: { status: { ready: 1 } } },
      }),
    ],
  },
  applied(
    'what two say alike stays until both withdraw it',
    [
      { by: 'a', spec: { size: 1 } },
      { by: 'b', spec: { size: 1 } },
      { by: 'a', spec: {} },
      { by: 'b', spec: { title: 'abc' } },
    ],
    { size: null, title: 'abc' },
  ),
  applied(
    'a list map is merged by its keys',
    [
      { by: 'a', spec: { ports: [{ port: 1 }, { port: 2, name: 'two' }] } },
      {
        by: 'b',
        spec: {
          ports: [
            { port: 2, protocol: 'TCP', name: 'two' },
            { port: 3, protocol: 'UDP' },
          ],
        },
      },
      { by: 'a', spec: { ports: [{ port: 2, name: 'two' }] } },
    ],
    { ports: [{ port: 2 }, { port: 3 }] },
  ),
  applied(
    'items stand in the order of the last apply',
    [
      { by: 'a', spec: { items: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] } },
      { by: 'b', spec: { items: [{ name: 'c' }, { name: 'd' }, { name: 'a' }] }, force: true },
    ],
    { items: [{ name: 'b' }, { name: 'c' }, { name: 'd' }, { name: 'a' }] },
  ),
  applied(
    'a set is united and shrinks value by value',
    [
      { by: 'a', spec: { tags: ['a', 'b'] } },
      { by: 'b', spec: { tags: ['b', 'c'] } },
      { by: 'a', spec: { tags: ['b'] } },
    ],
    { tags: ['b', 'c'] },
  ),
  applied(
    'atomic lists and maps are replaced',
    [
      { by: 'a', spec: { args: ['a', 'b'], limits: { cpu: '1', memory: '2' } } },
      { by: 'a', spec: { args: ['c'], limits: { cpu: '3' } } },
    ],
    { args: ['c'], limits: { cpu: '3', memory: null } },
  ),
  applied(
    'free-form parts are merged key by key',
    [
      { by: 'a', spec: { free: { a: { b: 1 }, list: [1, 2] } } },
      { by: 'b', spec: { free: { a: { c: 2 } } } },
      { by: 'a', spec: { free: { list: [3] } } },
    ],
    { free: { a: { c: 2, b: null }, list: [3] } },
  ),
  applied(
    'defaults come after the merge and belong to nobody',
    [
      { by: 'a', spec: { nested: { a: 'x', deep: {} } } },
      { by: 'b', spec: { nested: { deep: { y: 'other' } } } },
    ],
    { nested: { deep: { y: 'other' } }, level: 3 },
  ),
  applied(
    'a default comes back when its field is withdrawn',
    [
      { by: 'a', spec: { level: 5, title: 'abc' } },
      { by: 'a', spec: { title: 'abc' } },
    ],
    { level: 3 },
  ),
  {
    name: 'the last field of a struct leaves a null that the schema refuses',
    steps: [
      post(`${plains}?fieldManager=u`, plain({}), { status: 201 }),
      apply({ to: `${plains}/x`, by: 'a', body: plain({ size: 1 }), expect: { status: 200 } }),
      apply({
        to: `${plains}/x`,
        by: 'a',
        body: { apiVersion: '$(group)/v1', kind: 'Plain', metadata: { name: 'x' } },
        expect: { status: 422 },
      }),
      post(`${things}?fieldManager=u`, thing({ nested: { a: 'x', deep: { x: 'u' } } }), {
        status: 201,
      }),
      apply({ to: x, by: 'a', body: thing({ nested: { a: 'x' } }), expect: { status: 200 } }),
      merge(`${x}?fieldManager=u`, { spec: { nested: { deep: null } } }, { status: 200 }),
      apply({ to: x, by: 'a', body: thing({}), expect: { status: 200 } }),
    ],
  },
  {
    name: 'fields that were there before any apply belong to a manager of their own',
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }),
      merge(x, { metadata: { managedFields: [{}] } }, { status: 200 }),
      apply({ to: x, by: 'a', body: thing({ title: 'abc' }), expect: { status: 200 } }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 2 }),
        expect: { status: 409, message: /before-first-apply/ },
      }),
    ],
  },
  {
    name: 'of more than ten updaters the oldest become one',
    steps: [
      post(`${things}?fieldManager=u0`, thing({ labels: { k0: '1' } }), { status: 201 }),
      ...Array.from({ length: 12 }, (_, index) =>
        merge(
          `${x}?fieldManager=u${index + 1}`,
          { spec: { labels: { [`k${index + 1}`]: '1' } } },
          {
            status: 200,
            differs: { 'metadata.managedFields': 'which entries are oldest depends on seconds' },
          },
        ),
      ),
    ],
  },
  {
    name: 'an apply must say who it is and what it is about',
    steps: [
      { method: 'PATCH', path: x, body: thing({}), headers: applyType, expect: { status: 422 } },
      apply({ to: x, by: 'a', body: thing({}, { managedFields: [] }), expect: { status: 400 } }),
      apply({ to: x, by: 'a', body: thing({}, { name: 'y' }), expect: { status: 400 } }),
      apply({ to: x, by: 'a', body: thing({}, { namespace: 'y' }), expect: { status: 400 } }),
      apply({
        to: x,
        by: 'a',
        body: { ...thing({}), apiVersion: '$(group)/v9' },
        expect: { status: 400 },
      }),
      apply({ to: x, by: 'a', body: { ...thing({}), kind: 'Other' }, expect: { status: 400 } }),
      apply({ to: x, by: 'a', body: { metadata: { name: 'x' } }, expect: { status: 400 } }),
      apply({ to: x, by: 'a', body: '[]', expect: { status: 400 } }),
      apply({
        to: x,
        by: 'a',
        body: '{',
        expect: { status: 400, differs: { message: 'wording of the YAML reader' } },
      }),
      apply({ to: `${x}/status`, by: 'a', body: thing({}), expect: { status: 404 } }),
    ],
  },
  {
    name: 'a name need not be in the body',
    steps: [
      apply({
        to: x,
        by: 'a',
        body: { apiVersion: '$(group)/v1', kind: 'Thing', spec: { size: 1 } },
        expect: { status: 400 },
      }),
    ],
  },
  {
    name: 'YAML is read',
    steps: [
      apply({
        to: x,
        by: 'a',
        body: 'apiVersion: $(group)/v1\nkind: Thing\nmetadata:\n  name: x\nspec:\n  size: 2 # two\n',
        expect: { status: 201, body: { spec: { size: 2 } } },
      }),
    ],
  },
  ...Object.entries({
    'an unknown field': { sise: 1 },
    'a text for a number': { size: 'x' },
    'a number for a text': { title: 5 },
    'a list for a struct': { nested: [1] },
    'a struct for a list': { tags: { a: 1 } },
    'an item twice': { tags: ['a', 'a'] },
    'a port twice': { ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] },
    'an item without its key': { items: [{ value: 1 }] },
    'a null item': { items: [null] },
    'a struct for a text': { title: { a: [1, 'x'] } },
    'a text for a flag': { on: 'yes' },
  }).map(
    ([name, spec]): ContractCase => ({
      name: `${name} keeps an apply from being read`,
      steps: [
        apply({
          to: x,
          by: 'a',
          body: thing(spec as unknown as JsonObject),
          expect: { status: 500, message: /^failed to create typed patch object/ },
        }),
      ],
    }),
  ),
  {
    name: 'an applied value that breaks a rule is refused',
    steps: [
      apply({ to: x, by: 'a', body: thing({ size: 99 }), expect: { status: 422 } }),
      apply({ to: x, by: 'a', body: thing({ nested: {} }), expect: { status: 422 } }),
      apply({ to: x, by: 'a', body: thing({ target: [1] }), expect: { status: 422 } }),
      get(x, { status: 404 }),
    ],
  },
  {
    name: 'a version or uid in the body guards the apply',
    steps: [
      apply({ to: x, by: 'a', body: thing({}, { resourceVersion: '1' }), expect: { status: 201 } }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1 }, { resourceVersion: '1' }),
        expect: { status: 409 },
      }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1 }, { resourceVersion: '1' }),
        force: true,
        expect: { status: 409 },
      }),
      apply({
        to: x,
        by: 'a',
        body: thing({}, { uid: '11111111-1111-4111-8111-111111111111' }),
        expect: { status: 422 },
      }),
      apply({
        to: `${things}/y`,
        by: 'a',
        body: thing({}, { name: 'y', uid: '11111111-1111-4111-8111-111111111111' }),
        expect: { status: 409, message: /uid mismatch/ },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({}, { resourceVersion: '1' }),
        expect: { status: 201 },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1' }, { resourceVersion: '1' }),
        expect: { status: 409 },
      }),
    ],
  },
  {
    name: 'an apply as a dry run stores nothing',
    steps: [
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1 }),
        query: '&dryRun=All',
        expect: { status: 201 },
      }),
      get(x, { status: 404 }),
      apply({ to: x, by: 'a', body: thing({ size: 1 }), expect: { status: 201 }, save }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 2 }),
        query: '&dryRun=All',
        expect: { status: 200, body: { spec: { size: 2 } } },
      }),
      get(x, { status: 200, body: { spec: { size: 1 }, metadata: { resourceVersion: '$(rv)' } } }),
    ],
  },
  {
    name: 'an update in between takes what it changes',
    steps: [
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1', b: '1' }, { labels: { app: 'x' } }),
        expect: { status: 201 },
      }),
      put(`${configMaps}/x?fieldManager=u`, configMap({ a: '1', b: '2', c: '3' }), { status: 200 }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1', b: '1' }),
        expect: { status: 409 },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1' }),
        expect: { status: 200, body: { data: { b: '2', c: '3' } } },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({}),
        expect: { status: 200, body: { data: { a: null } } },
      }),
    ],
  },
  {
    name: 'ownership in one version holds in the other',
    steps: [
      apply({
        to: '/apis/$(group)/v1/namespaces/$(ns)/olds/x',
        by: 'a',
        body: {
          apiVersion: '$(group)/v1',
          kind: 'Old',
          metadata: { name: 'x' },
          spec: { size: 1 },
        },
        expect: { status: 201 },
      }),
      apply({
        to: '/apis/$(group)/v2/namespaces/$(ns)/olds/x',
        by: 'b',
        body: {
          apiVersion: '$(group)/v2',
          kind: 'Old',
          metadata: { name: 'x' },
          spec: { size: 2 },
        },
        expect: { status: 409 },
      }),
      apply({
        to: '/apis/$(group)/v2/namespaces/$(ns)/olds/x',
        by: 'a',
        body: {
          apiVersion: '$(group)/v2',
          kind: 'Old',
          metadata: { name: 'x' },
          spec: { title: 't' },
        },
        expect: { status: 200, body: { spec: { size: null, title: 't' } } },
      }),
      merge(
        '/apis/$(group)/v1/namespaces/$(ns)/olds/x?fieldManager=u',
        { spec: { size: 5 } },
        { status: 200, body: { apiVersion: '$(group)/v1' } },
      ),
      get('/apis/$(group)/v2/namespaces/$(ns)/olds/x', {
        status: 200,
        body: { apiVersion: '$(group)/v2' },
      }),
    ],
  },
  {
    name: 'empty metadata of a custom resource makes every apply a write',
    steps: [
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1 }, { labels: {}, annotations: null }),
        expect: { status: 201 },
      }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1 }, { labels: {}, annotations: null }),
        expect: { status: 200 },
      }),
    ],
  },
  {
    name: 'a Secret folds its texts into data',
    steps: [
      apply({
        to: '/api/v1/namespaces/$(ns)/secrets/x',
        by: 'a',
        body: {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'x' },
          stringData: { a: 'ä' },
          data: { a: 'eA==', b: 'eQ==' },
        },
        expect: {
          status: 201,
          body: { type: 'Opaque', data: { a: 'w6Q=', b: 'eQ==' }, stringData: null },
        },
      }),
      apply({
        to: '/api/v1/namespaces/$(ns)/secrets/x',
        by: 'a',
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { b: 'eQ==\n' } },
        expect: { status: 200 },
      }),
    ],
  },
];
