import type { ContractCase } from '../driver/index.ts';
import {
  configMap,
  configMaps,
  get,
  jsonPatch,
  merge,
  plain,
  plains,
  post,
  put,
  strategicType,
  thing,
  things,
} from './requests.ts';

const save = { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } };
const at = { resourceVersion: '$(rv)' };

export const updates: readonly ContractCase[] = [
  {
    name: 'a PUT replaces the object; with an old version it conflicts',
    ranked: [14],
    steps: [
      post(things, thing({ size: 1, title: 'abc' }), { status: 201 }, save),
      put(`${things}/x`, thing({ size: 2 }, at), {
        status: 200,
        body: { metadata: { generation: 2 }, spec: { size: 2, title: null } },
      }),
      put(`${things}/x`, thing({ size: 3 }, at), {
        status: 409,
        message:
          /^Operation cannot be fulfilled on things\.contract\.demo\.io "x": the object has been modified; please apply your changes to the latest version and try again$/,
        body: { reason: 'Conflict', details: { name: 'x', kind: 'things' } },
      }),
      put(`${things}/x/status`, { ...thing({}, at), status: { phase: 'x' } }, { status: 409 }),
      get(`${things}/x`, { status: 200, body: { spec: { size: 2 }, status: null } }),
      post(configMaps, configMap({ a: '1' }), { status: 201 }, save),
      put(`${configMaps}/x`, configMap({ b: '1' }, at), { status: 200 }),
      put(`${configMaps}/x`, configMap({ c: '1' }, at), { status: 409 }),
    ],
  },
  {
    name: 'a PUT without a version is for built-in kinds only',
    ranked: [15],
    steps: [
      post(things, thing({}), { status: 201 }),
      put(`${things}/x`, thing({}), { status: 422, message: /must be specified for an update/ }),
      post(configMaps, configMap({}), { status: 201 }),
      put(`${configMaps}/x`, configMap({ a: '1' }), { status: 200 }),
    ],
  },
  {
    name: 'a PUT that changes nothing keeps the version',
    ranked: [16],
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }, save),
      put(`${things}/x`, thing({ size: 1 }, at), {
        status: 200,
        body: { metadata: { resourceVersion: '$(rv)' } },
      }),
      post(configMaps, configMap({ a: '1' }), { status: 201 }, save),
      put(`${configMaps}/x`, configMap({ a: '1' }), {
        status: 200,
        body: { metadata: { resourceVersion: '$(rv)' } },
      }),
    ],
  },
  {
    name: 'a PUT to nothing is rejected, with a name or a uid that differs, too',
    ranked: [54],
    steps: [
      put(`${things}/x`, thing({}, { resourceVersion: '1' }), { status: 404 }),
      put(`${configMaps}/x`, configMap({}), { status: 404 }),
      post(configMaps, configMap({}), { status: 201 }),
      put(`${configMaps}/x`, configMap({}, { name: 'y' }), {
        status: 400,
        message: /does not match the name on the URL/,
      }),
      put(`${configMaps}/x`, configMap({}, { uid: '11111111-1111-4111-8111-111111111111' }), {
        status: 409,
      }),
      put(`${configMaps}/x`, configMap({}, { namespace: 'other' }), { status: 400 }),
      put(`${configMaps}/x`, configMap({}, { resourceVersion: 'abc' }), { status: 500 }),
    ],
  },
  {
    name: 'a Lease may be created by a PUT',
    steps: [
      put(
        '/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases/x',
        {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name: 'x' },
          spec: {
            holderIdentity: 'a',
            leaseDurationSeconds: 15,
            renewTime: '2026-01-01T00:00:00.5Z',
          },
        },
        { status: 400 },
      ),
      put(
        '/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases/x',
        {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name: 'x' },
          spec: {
            holderIdentity: 'a',
            leaseDurationSeconds: 15,
            renewTime: '2026-01-01T02:00:00.500000+02:00',
          },
        },
        { status: 201 },
      ),
    ],
  },
  {
    name: 'generation counts changes of the spec only',
    ranked: [21],
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }),
      merge(
        `${things}/x`,
        { metadata: { labels: { a: 'b' } } },
        { status: 200, body: { metadata: { generation: 1 } } },
      ),
      merge(
        `${things}/x`,
        { spec: { size: 2 } },
        { status: 200, body: { metadata: { generation: 2 } } },
      ),
      merge(
        `${things}/x/status`,
        { status: { phase: 'x' } },
        { status: 200, body: { metadata: { generation: 2 } } },
      ),
      merge(
        `${things}/x`,
        { metadata: { generation: 9 } },
        { status: 200, body: { metadata: { generation: 2 } } },
      ),
      post(plains, plain({ size: 1 }), { status: 201 }),
      merge(
        `${plains}/x`,
        { spec: { size: 2 } },
        { status: 200, body: { metadata: { generation: 2 } } },
      ),
    ],
  },
  {
    name: 'the main endpoint leaves the status alone, and the status endpoint everything else',
    ranked: [20],
    steps: [
      post(
        things,
        { ...thing({ size: 1 }), status: { phase: 'ignored' } },
        { status: 201, body: { status: null } },
      ),
      merge(
        `${things}/x/status`,
        { status: { phase: 'a' }, spec: { size: 9 }, metadata: { labels: { a: 'b' } } },
        {
          status: 200,
          body: { status: { phase: 'a' }, spec: { size: 1 } },
        },
      ),
      merge(
        `${things}/x`,
        { status: { phase: 'b' }, spec: { size: 2 } },
        { status: 200, body: { status: { phase: 'a' }, spec: { size: 2 } } },
      ),
      merge(`${things}/x`, { status: null }, { status: 200, body: { status: { phase: 'a' } } }),
      get(`${things}/x/status`, { status: 200, body: { status: { phase: 'a' } } }, save),
      put(
        `${things}/x/status`,
        { ...thing({ size: 5 }, at), status: { ready: 1 } },
        { status: 200, body: { spec: { size: 2 }, status: { ready: 1, phase: null } } },
      ),
      get(`${plains}/x/status`, { status: 404 }),
    ],
  },
  {
    name: 'without a status endpoint status is an ordinary part, if the schema has it',
    steps: [
      post(
        plains,
        { ...plain({ size: 1 }), status: { phase: 'x' } },
        { status: 201, body: { status: null } },
      ),
      merge(`${plains}/x/status`, { status: { phase: 'x' } }, { status: 404 }),
    ],
  },
  {
    name: 'a merge patch sets, and removes by null',
    ranked: [17],
    steps: [
      post(configMaps, configMap({ a: '1', b: '2' }), { status: 201 }, save),
      merge(
        `${configMaps}/x`,
        { data: { a: null, c: '3' } },
        { status: 200, body: { data: { a: null, b: '2', c: '3' } } },
      ),
      merge(
        `${configMaps}/x`,
        { metadata: { resourceVersion: '$(rv)' }, data: { d: '4' } },
        { status: 409 },
      ),
      post(things, thing({ size: 1 }), { status: 201 }, save),
      merge(`${things}/x`, { spec: { size: 2 } }, { status: 200 }),
      merge(
        `${things}/x`,
        { metadata: { resourceVersion: '$(rv)' }, spec: { size: 3 } },
        { status: 409, body: { reason: 'Conflict' } },
      ),
      merge(`${configMaps}/x`, { data: { b: '2' } }, { status: 200 }),
      merge(`${configMaps}/none`, { data: {} }, { status: 404 }),
      merge(`${configMaps}/x`, { metadata: { name: 'y' } }, { status: 400 }),
      merge(`${configMaps}/x`, { metadata: { namespace: 'y' } }, { status: 400 }),
      merge(
        `${configMaps}/x`,
        { metadata: { uid: '11111111-1111-4111-8111-111111111111' } },
        { status: 422 },
      ),
    ],
  },
  {
    name: 'a merge patch of a custom resource',
    ranked: [17],
    steps: [
      post(things, thing({ size: 1, nested: { a: 'x', b: 'y' }, tags: ['a', 'b'] }), {
        status: 201,
      }),
      merge(
        `${things}/x`,
        { spec: { nested: { b: null }, tags: ['c'] } },
        { status: 200, body: { spec: { nested: { a: 'x', b: null }, tags: ['c'] } } },
      ),
      merge(`${things}/x`, { spec: { nested: { a: null } } }, { status: 422 }),
      merge(
        `${things}/x?fieldValidation=Strict`,
        { spec: { nope: 1 } },
        {
          status: 422,
          differs: {
            message: 'holds the whole object',
            'details.causes': 'holds the whole object',
          },
        },
      ),
      merge(`${things}/x`, { spec: { nope: 1 } }, { status: 200 }),
      merge(`${things}/x`, { kind: 'Other' }, { status: 422 }),
    ],
  },
  {
    name: 'a patch that is none is rejected',
    steps: [
      merge(`${configMaps}/x`, '{', { status: 404 }),
      post(configMaps, configMap({}), { status: 201 }),
      merge(`${configMaps}/x`, '{', {
        status: 400,
        differs: { message: 'wording of the JSON reader' },
      }),
      merge(`${configMaps}/x`, [1], { status: 400 }),
      jsonPatch(`${configMaps}/x`, { a: 1 }, { status: 400 }),
    ],
  },
  {
    name: 'force is for applies only',
    ranked: [55],
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      merge(`${configMaps}/x?force=true`, { data: {} }, { status: 422 }),
    ],
  },
  {
    name: 'a JSON patch adds, removes, replaces, moves, copies and tests',
    ranked: [18],
    steps: [
      post(things, thing({ size: 1, tags: ['a', 'b'], labels: { 'x/y': '1' } }), { status: 201 }),
      jsonPatch(
        `${things}/x`,
        [
          { op: 'test', path: '/spec/size', value: 1 },
          { op: 'replace', path: '/spec/size', value: 2 },
          { op: 'add', path: '/spec/tags/-', value: 'c' },
          { op: 'remove', path: '/spec/tags/0' },
          { op: 'add', path: '/spec/labels/a', value: 'b' },
          { op: 'copy', from: '/spec/labels/a', path: '/spec/labels/c' },
          { op: 'move', from: '/spec/labels/x~1y', path: '/spec/labels/z' },
        ],
        {
          status: 200,
          body: {
            spec: { size: 2, tags: ['b', 'c'], labels: { a: 'b', c: 'b', z: '1', 'x/y': null } },
          },
        },
      ),
    ],
  },
  ...[
    { op: 'test', path: '/data/a', value: '2' },
    { op: 'remove', path: '/data/none' },
    { op: 'add', path: '/nope/none', value: '1' },
    { op: 'copy', from: '/nope/none', path: '/data/b' },
    { op: 'replace', path: '/nope/none', value: '1' },
    { op: 'move', from: '/data/none', path: '/data/b' },
  ].map(
    (operation): ContractCase => ({
      name: `a JSON patch that does not fit is rejected: ${operation.op}`,
      ranked: [18],
      steps: [
        post(configMaps, configMap({ a: '1' }), { status: 201 }),
        jsonPatch(`${configMaps}/x`, [operation], { status: 422 }),
      ],
    }),
  ),
  {
    name: 'patches of other types are rejected with the list of those that are taken',
    ranked: [19],
    steps: [
      post(things, thing({}), { status: 201 }),
      {
        method: 'PATCH',
        path: `${things}/x`,
        body: {},
        headers: strategicType,
        expect: {
          status: 415,
          message:
            /accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml/,
        },
      },
      {
        method: 'PATCH',
        path: `${things}/x`,
        body: {},
        headers: { 'content-type': 'application/json' },
        expect: { status: 415 },
      },
    ],
  },
  {
    name: 'what a patch may not touch stays',
    steps: [
      post(configMaps, configMap({ a: '1' }), { status: 201 }, save),
      merge(
        `${configMaps}/x`,
        {
          metadata: {
            creationTimestamp: '2001-01-01T00:00:00Z',
            selfLink: '/x',
            uid: null,
            managedFields: null,
          },
        },
        { status: 200 },
      ),
      merge(
        `${configMaps}/x`,
        { metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' } },
        { status: 422 },
      ),
    ],
  },
  {
    name: 'managedFields can be emptied by an update',
    steps: [
      post(configMaps, configMap({ a: '1' }), { status: 201 }),
      merge(
        `${configMaps}/x`,
        { metadata: { managedFields: [{}] } },
        { status: 200, body: { metadata: { managedFields: null } } },
      ),
      merge(
        `${configMaps}/x`,
        { data: { b: '1' } },
        { status: 200, body: { metadata: { managedFields: null } } },
      ),
      post(things, thing({ size: 1 }), { status: 201 }),
      merge(`${things}/x`, { metadata: { managedFields: [] } }, { status: 200 }),
      merge(`${things}/x`, { spec: { size: 2 } }, { status: 200 }),
    ],
  },
  {
    name: 'each writer owns what it changed',
    ranked: [20],
    steps: [
      post(`${things}?fieldManager=a`, thing({ size: 1, labels: { a: '1' }, tags: ['a'] }), {
        status: 201,
      }),
      merge(
        `${things}/x?fieldManager=b`,
        { spec: { size: 2, labels: { b: '2' }, tags: ['a', 'b'] } },
        { status: 200 },
      ),
      merge(
        `${things}/x?fieldManager=c`,
        { spec: { labels: { a: null }, limits: { cpu: '1' } } },
        { status: 200 },
      ),
      merge(
        `${things}/x/status?fieldManager=a`,
        { status: { phase: 'x', conditions: [{ type: 'A', status: 'True' }] } },
        { status: 200 },
      ),
      merge(`${things}/x?fieldManager=${'m'.repeat(129)}`, {}, { status: 422 }),
    ],
  },
  {
    name: 'immutable ConfigMaps stay as they are',
    steps: [
      post(configMaps, { ...configMap({ a: '1' }), immutable: true }, { status: 201 }),
      merge(`${configMaps}/x`, { data: { a: '2' } }, { status: 422 }),
      merge(`${configMaps}/x`, { immutable: false }, { status: 422 }),
      merge(`${configMaps}/x`, { metadata: { labels: { a: 'b' } } }, { status: 200 }),
    ],
  },
  {
    name: 'a dry run of an update stores nothing',
    ranked: [53],
    steps: [
      post(configMaps, configMap({ a: '1' }), { status: 201 }, save),
      merge(
        `${configMaps}/x?dryRun=All`,
        { data: { a: '2' } },
        { status: 200, body: { data: { a: '2' } } },
      ),
      get(`${configMaps}/x`, {
        status: 200,
        body: { data: { a: '1' }, metadata: { resourceVersion: '$(rv)' } },
      }),
    ],
  },
];
