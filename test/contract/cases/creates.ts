import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, get, plain, plains, post, thing, things } from './requests.ts';

export const creates: readonly ContractCase[] = [
  {
    name: 'a custom resource is born with uid, version, generation and defaults, and its fields belong to the user agent',
    ranked: [1],
    steps: [
      post(
        things,
        thing({ size: 2, nested: { a: 'x', deep: {} } }),
        {
          status: 201,
          body: {
            metadata: {
              generation: 1,
              managedFields: [{ manager: 'contract', operation: 'Update' }],
            },
            spec: { size: 2, level: 3, nested: { a: 'x', deep: { y: 'why' } } },
          },
          owners: {
            'contract (Update)': [
              '.spec/',
              '.spec.level',
              '.spec.nested/',
              '.spec.nested.a',
              '.spec.nested.deep/',
              '.spec.nested.deep.y',
              '.spec.size',
            ],
          },
        },
        { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } },
      ),
      get(`${things}/x`, {
        status: 200,
        body: { metadata: { uid: '$(uid)', resourceVersion: '$(rv)' }, spec: { level: 3 } },
      }),
      // The manager that is named wins over the agent; an agent without a slash is one as a whole.
      post(`${things}?fieldManager=me`, thing({}, { name: 'y' }), {
        status: 201,
        body: { metadata: { managedFields: [{ manager: 'me' }] } },
      }),
      post(
        things,
        thing({}, { name: 'z' }),
        { status: 201, body: { metadata: { managedFields: [{ manager: 'curl 8' }] } } },
        { headers: { 'user-agent': 'curl 8' } },
      ),
    ],
  },
  {
    name: 'a ConfigMap has no generation',
    steps: [
      post(configMaps, configMap({ a: '1' }), {
        status: 201,
        body: { metadata: { generation: null } },
      }),
    ],
  },
  {
    name: 'a missing object is reported with plural and group',
    ranked: [2],
    steps: [
      get(`${things}/none`, {
        status: 404,
        message: /^things\.contract\.demo\.io "none" not found$/,
        body: {
          kind: 'Status',
          reason: 'NotFound',
          details: { name: 'none', group: 'contract.demo.io', kind: 'things' },
        },
      }),
      get(`${configMaps}/none`, {
        status: 404,
        message: /^configmaps "none" not found$/,
        body: { reason: 'NotFound', details: { name: 'none', group: null, kind: 'configmaps' } },
      }),
    ],
  },
  {
    name: 'the same name twice is rejected',
    ranked: [3],
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      post(configMaps, configMap({}), {
        status: 409,
        message: /^configmaps "x" already exists$/,
        body: { reason: 'AlreadyExists', details: { name: 'x', kind: 'configmaps' } },
      }),
      post(things, thing({ size: 1 }), { status: 201 }),
      post(things, thing({ size: 2 }), {
        status: 409,
        body: { reason: 'AlreadyExists', details: { name: 'x', kind: 'things' } },
      }),
      get(`${things}/x`, { status: 200, body: { spec: { size: 1 } } }),
    ],
  },
  {
    name: 'a namespace that is not there is reported',
    ranked: [31],
    steps: [
      post('/api/v1/namespaces/nowhere/configmaps', configMap({}), {
        status: 404,
        message: /^namespaces "nowhere" not found$/,
      }),
      post('/apis/$(group)/v1/namespaces/nowhere/things', thing({}), { status: 404 }),
    ],
  },
  {
    name: 'a namespace that is not that of the request is rejected',
    ranked: [54],
    steps: [
      post(configMaps, configMap({}, { namespace: 'other' }), { status: 400 }),
      post(things, thing({}, { namespace: 'other' }), { status: 400 }),
    ],
  },
  {
    name: 'a collection of all namespaces takes no objects',
    steps: [post('/api/v1/configmaps', configMap({}), { status: 405 })],
  },
  {
    name: 'a resourceVersion at birth is rejected',
    ranked: [54],
    steps: [
      post(configMaps, configMap({}, { resourceVersion: '5' }), { status: 500 }),
      post(things, thing({}, { resourceVersion: '5' }), { status: 500 }),
    ],
  },
  {
    name: 'uid, times and generation of a client are ignored',
    ranked: [1],
    steps: [
      post(
        things,
        thing(
          {},
          {
            uid: '11111111-1111-4111-8111-111111111111',
            creationTimestamp: '2001-01-01T00:00:00Z',
            generation: 7,
            selfLink: '/x',
          },
        ),
        { status: 201, body: { metadata: { generation: 1 } } },
        { save: { uid: 'metadata.uid' } },
      ),
      post(
        configMaps,
        configMap({}, { uid: '11111111-1111-4111-8111-111111111111', creationTimestamp: null }),
        {
          status: 201,
        },
      ),
    ],
  },
  {
    name: 'empty and null metadata vanish',
    steps: [
      post(
        things,
        thing({}, { labels: {}, annotations: null, finalizers: [], ownerReferences: [] }),
        {
          status: 201,
          body: { metadata: { labels: null, annotations: null, finalizers: null } },
        },
      ),
      post(configMaps, configMap({}, { labels: {}, annotations: null, finalizers: [] }), {
        status: 201,
      }),
    ],
  },
  {
    name: 'a name is needed',
    ranked: [54],
    steps: [
      post(
        configMaps,
        { apiVersion: 'v1', kind: 'ConfigMap' },
        { status: 422, message: /name or generateName is required/ },
      ),
      post(things, { apiVersion: '$(group)/v1', kind: 'Thing', spec: {} }, { status: 422 }),
    ],
  },
  ...['A', 'a_b', '-a', 'a.', 'a'.repeat(254), 'ä'].map(
    (name): ContractCase => ({
      name: `"${name.slice(0, 10)}" is no name`,
      steps: [
        post(configMaps, configMap({}, { name }), { status: 422 }),
        post(things, thing({}, { name }), { status: 422 }),
      ],
    }),
  ),
  {
    name: 'another kind in the body is rejected',
    steps: [
      post(
        configMaps,
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } },
        { status: 400 },
      ),
      post(
        things,
        { apiVersion: '$(group)/v1', kind: 'Plain', metadata: { name: 'x' } },
        { status: 422 },
      ),
      post(
        things,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
        { status: 400 },
      ),
    ],
  },
  {
    name: 'another version in the body is rejected',
    steps: [
      post(
        configMaps,
        { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'x' } },
        { status: 400 },
      ),
      post(
        things,
        { apiVersion: '$(group)/v9', kind: 'Thing', metadata: { name: 'x' } },
        { status: 400 },
      ),
    ],
  },
  {
    name: 'kind and apiVersion may be left out for built-in kinds only',
    steps: [
      post(configMaps, { metadata: { name: 'x' } }, { status: 201 }),
      post(things, { metadata: { name: 'x' } }, { status: 400 }),
      post(things, { kind: 'Thing', metadata: { name: 'x' } }, { status: 400 }),
    ],
  },
  {
    name: 'a dry run checks everything and stores nothing',
    ranked: [53],
    steps: [
      post(`${configMaps}?dryRun=All`, configMap({ a: '1' }), {
        status: 201,
        body: { metadata: { resourceVersion: null } },
      }),
      get(`${configMaps}/x`, { status: 404 }),
      post(`${things}?dryRun=All`, thing({ size: 99 }), { status: 422 }),
      post(`${things}?dryRun=Some`, thing({}), { status: 422 }),
    ],
  },
  {
    name: 'unknown fields are dropped with a warning, rejected or ignored, as asked',
    ranked: [41, 45],
    steps: [
      post(plains, plain({ size: 1, sise: 2, more: { x: 1 } }), {
        status: 201,
        body: { spec: { sise: null } },
      }),
      post(`${plains}?fieldValidation=Strict`, plain({ sise: 2, more: 1 }, { name: 'y' }), {
        status: 400,
      }),
      post(`${plains}?fieldValidation=Ignore`, plain({ sise: 2 }, { name: 'z' }), { status: 201 }),
      post(`${plains}?fieldValidation=Maybe`, plain({}, { name: 'q' }), { status: 422 }),
      post(configMaps, { ...configMap({}), foo: 1 }, { status: 201, body: { foo: null } }),
      post(
        `${configMaps}?fieldValidation=Strict`,
        { ...configMap({}, { name: 'y', bar: 1 }), foo: 1 },
        { status: 400 },
      ),
      post(
        `${configMaps}?fieldValidation=Ignore`,
        { ...configMap({}, { name: 'z' }), foo: 1 },
        { status: 201 },
      ),
    ],
  },
  {
    name: 'a field that is there twice is warned of or rejected',
    ranked: [41],
    steps: [
      post(
        plains,
        '{"apiVersion":"$(group)/v1","kind":"Plain","metadata":{"name":"x"},"spec":{"size":1,"size":2}}',
        {
          status: 201,
          body: { spec: { size: 2 } },
        },
      ),
      post(
        `${plains}?fieldValidation=Strict`,
        '{"apiVersion":"$(group)/v1","kind":"Plain","metadata":{"name":"y"},"spec":{"size":1,"size":2}}',
        { status: 400 },
      ),
      post(
        `${configMaps}?fieldValidation=Strict`,
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"y"},"data":{"a":"1","a":"2"}}',
        { status: 400 },
      ),
    ],
  },
  {
    name: 'generateName is checked like a name',
    ranked: [54],
    steps: [
      post(configMaps, configMap({}, { name: '', generateName: 'Bad_' }), {
        status: 422,
        differs: { message: 'random', 'details.name': 'random', 'details.causes': 'random' },
      }),
    ],
  },
];
