import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { type CrdOptions, crd, crds, gadget, gadgets, sizes, whenServed } from './gadgets.ts';
import { get, jsonPatch, merge, post, remove } from './requests.ts';

function rejected(name: string, options: CrdOptions): ContractCase {
  return {
    name: `a CRD with ${name} is rejected`,
    steps: [post(crds, crd(options), { status: 422 })],
  };
}

/** The server prints the versions in the shape that they have inside of it. */
function rejectedInGo(name: string, options: CrdOptions): ContractCase {
  const why = 'prints structs of the server';
  const differs = { message: why, 'details.causes': why };
  const steps = [post(crds, crd(options), { status: 422, differs })];
  return { name: `a CRD with ${name} is rejected`, steps };
}

function rejectedSchema(name: string, properties: JsonObject): ContractCase {
  return rejected(name, { schema: { type: 'object', properties } });
}

const twoVersions = [
  {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: sizes({ mode: { type: 'string', default: 'slow' } }) },
  },
  {
    name: 'v1alpha1',
    served: true,
    storage: false,
    schema: { openAPIV3Schema: sizes({ old: { type: 'string' } }) },
  },
];

const rv = 'metadata.resourceVersion';
const schema = { openAPIV3Schema: { type: 'object' } };
const globes = `${crds}/globes.$(group)`;
const map = { type: 'array', 'x-kubernetes-list-type': 'map' };

export const crdCases: readonly ContractCase[] = [
  {
    name: 'a CRD is stored with its names and strategy filled in',
    steps: [
      post(crds, crd(), {
        status: 201,
        body: {
          metadata: { generation: 1 },
          spec: {
            names: { singular: 'gadget', listKind: 'GadgetList' },
            conversion: { strategy: 'None' },
          },
          status: { storedVersions: ['v1'], acceptedNames: { kind: '', plural: '' } },
        },
      }),
    ],
  },
  rejected('a name that does not fit', { name: 'other.$(ns).io' }),
  rejected('a group without a dot', { group: 'demo', name: 'gadgets.demo' }),
  rejected('another scope', { scope: 'Galaxy' }),
  rejected('no scope', { scope: '' }),
  rejected('a plural in capitals', { names: { plural: 'Gadgets' }, name: 'Gadgets.$(ns).io' }),
  rejected('no versions', { versions: [] }),
  rejectedInGo('no stored version', {
    versions: [{ name: 'v1', served: true, storage: false, schema }],
  }),
  rejectedInGo('two stored versions', {
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v2', served: true, storage: true, schema },
    ],
  }),
  rejectedInGo('a version twice', {
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v1', served: true, storage: false, schema },
    ],
  }),
  rejected('no schema', { versions: [{ name: 'v1', served: true, storage: true }] }),
  rejected('a schema that is a text', { schema: { type: 'string' } }),
  rejected('a schema without a type', { schema: {} }),
  rejected('the same kind for a list', { names: { listKind: 'Gadget' } }),
  rejected('an unknown strategy', { more: { conversion: { strategy: 'Magic' } } }),
  rejectedSchema('a field without a type', { a: { description: 'x' } }),
  rejectedSchema('an unknown type', { a: { type: 'text' } }),
  rejectedSchema('a list without items', { a: { type: 'array' } }),
  rejectedSchema('a list map without keys', { a: { ...map, items: { type: 'object' } } }),
  rejectedSchema('a list map whose key is no field', {
    a: { ...map, 'x-kubernetes-list-map-keys': ['k'], items: { type: 'object' } },
  }),
  rejectedSchema('a list map whose key may be missing', {
    a: {
      ...map,
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: { type: 'string' } } },
    },
  }),
  rejectedSchema('unique items', {
    a: { type: 'array', uniqueItems: true, items: { type: 'string' } },
  }),
  rejectedSchema('properties and additional ones', {
    a: {
      type: 'object',
      properties: { b: { type: 'string' } },
      additionalProperties: { type: 'string' },
    },
  }),
  {
    name: 'scope and kind of an established CRD stay, versions in storage too',
    steps: [
      merge(globes, { spec: { scope: 'Namespaced' } }, { status: 422 }),
      merge(globes, { spec: { names: { kind: 'Ball', listKind: 'BallList' } } }, { status: 422 }),
      merge(
        globes,
        { spec: { versions: [{ name: 'v2', served: true, storage: true, schema }] } },
        { status: 422 },
      ),
      merge(`${crds}/none.$(ns).io`, {}, { status: 404 }),
      remove(`${crds}/none.$(ns).io`, undefined, { status: 404 }),
    ],
  },
  {
    name: 'the CRDs of the suite are established, with their names accepted',
    ranked: [48],
    steps: [
      get(`${crds}/globes.$(group)`, {
        status: 200,
        body: {
          status: {
            acceptedNames: { kind: 'Globe', plural: 'globes' },
            conditions: [
              { type: 'NamesAccepted', status: 'True' },
              { type: 'Established', status: 'True' },
            ],
          },
        },
      }),
    ],
  },
  {
    name: 'objects of a cluster-scoped kind have no namespace',
    steps: [
      post(
        '/apis/$(group)/v1/globes',
        {
          apiVersion: '$(group)/v1',
          kind: 'Globe',
          metadata: { name: '$(ns)' },
          spec: { size: 1 },
        },
        { status: 201 },
      ),
      post(
        '/apis/$(group)/v1/globes',
        {
          apiVersion: '$(group)/v1',
          kind: 'Globe',
          metadata: { name: '$(ns)-x', namespace: 'default' },
        },
        { status: 201 },
      ),
      get('/apis/$(group)/v1/globes/$(ns)', { status: 200 }),
      get('/apis/$(group)/v1/namespaces/$(ns)/globes', { status: 404 }),
      remove('/apis/$(group)/v1/globes/$(ns)', undefined, { status: 200 }),
    ],
  },
  {
    name: 'an object is served in all versions and stored in one',
    ranked: [49],
    steps: [
      post(
        '/apis/$(group)/v2/namespaces/$(ns)/olds',
        { apiVersion: '$(group)/v2', kind: 'Old', metadata: { name: 'x' }, spec: { size: 1 } },
        { status: 201, body: { apiVersion: '$(group)/v2' } },
      ),
      get('/apis/$(group)/v1/namespaces/$(ns)/olds/x', {
        status: 200,
        body: {
          apiVersion: '$(group)/v1',
          metadata: { managedFields: [{ apiVersion: '$(group)/v2' }] },
        },
      }),
      get('/apis/$(group)/v1/namespaces/$(ns)/olds', {
        status: 200,
        body: { items: [{ apiVersion: '$(group)/v1' }] },
      }),
      {
        watch: '/apis/$(group)/v2/namespaces/$(ns)/olds?watch=1',
        events: 1,
        expect: [{ type: 'ADDED', object: { apiVersion: '$(group)/v2' } }],
      },
      post(
        '/apis/$(group)/v1/namespaces/$(ns)/olds',
        { apiVersion: '$(group)/v2', kind: 'Old', metadata: { name: 'y' } },
        { status: 400 },
      ),
    ],
  },
  {
    name: 'after a change of its CRD an object is read by the new schema, and watches end',
    ranked: [34],
    steps: [
      post(crds, crd({ schema: sizes({ old: { type: 'string' } }) }), { status: 201 }),
      { until: gadgets, expect: { status: 200 } },
      post(gadgets, gadget({ size: 1, old: 'x' }), { status: 201 }, { save: { rv } }),
      {
        watch: `${gadgets}?watch=1&resourceVersion=$(rv)`,
        during: [
          jsonPatch(
            `${crds}/gadgets.$(ns).io`,
            [
              {
                op: 'replace',
                path: '/spec/versions/0/schema/openAPIV3Schema',
                value: sizes({ mode: { type: 'string', default: 'slow' } }),
              },
            ],
            { status: 200, differs: whenServed },
          ),
        ],
        events: 'all',
        expect: [],
      },
      {
        until: `${gadgets}/x`,
        expect: {
          status: 200,
          body: {
            spec: { size: 1, mode: 'slow', old: null },
            metadata: { resourceVersion: '$(rv)' },
          },
        },
      },
      get(gadgets, { status: 200, body: { items: [{ spec: { mode: 'slow', old: null } }] } }),
      {
        watch: `${gadgets}?watch=1&resourceVersion=$(rv)`,
        events: 1,
        expect: [{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }],
      },
      {
        watch: `${gadgets}?watch=1`,
        during: [merge(`${gadgets}/x`, { metadata: { labels: { a: 'b' } } }, { status: 200 })],
        events: 2,
        expect: [
          { type: 'ADDED', object: { spec: { mode: 'slow', old: null } } },
          { type: 'MODIFIED', object: { spec: { mode: 'slow', old: null } } },
        ],
      },
    ],
  },
  {
    name: 'of what is written in another version that is kept which the stored one has',
    ranked: [49],
    steps: [
      post(crds, crd({ versions: twoVersions }), { status: 201 }),
      { until: gadgets, expect: { status: 200 } },
      post(
        gadgets.replace('/v1/', '/v1alpha1/'),
        { ...gadget({ size: 1, mode: 'x', old: 'y' }), apiVersion: '$(ns).io/v1alpha1' },
        { status: 201, body: { spec: { size: 1, mode: null, old: null } } },
      ),
      get(`${gadgets}/x`, { status: 200, body: { spec: { size: 1, mode: 'slow', old: null } } }),
      get(gadgets, {
        status: 200,
        body: { items: [{ spec: { size: 1, mode: 'slow', old: null } }] },
      }),
    ],
  },
];
