import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase, ContractStep } from '../driver/index.ts';
import { apply, configMap, configMaps, get, merge, thing, things } from './requests.ts';

const save = { rv: 'metadata.resourceVersion' };
const x = `${things}/x`;

const deployments = '/apis/apps/v1/namespaces/$(ns)/deployments';

const deployment = (image: string): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image, ports: [{ containerPort: 80 }] }] },
    },
  },
});

const olds = (version: string) => `/apis/$(group)/${version}/namespaces/$(ns)/olds/x`;

const old = (version: string, spec: JsonObject): JsonObject => ({
  apiVersion: `$(group)/${version}`,
  kind: 'Old',
  metadata: { name: 'x' },
  spec,
});

interface Unchanging {
  /** What must be there before. */
  readonly first?: ContractStep;
  /** The collection. @default the one of the path */
  readonly watched?: string;
  readonly body: Json;
  /** The same in other words. */
  readonly alike: Json;
  /** A change, which is the first thing that a watch hears of. */
  readonly marker: Json;
}

/** An apply, the same again in several ways, and a change: only that is an event. */
function unchanging(what: string, path: string, applied: Unchanging): ContractCase {
  const { first, body, alike, marker } = applied;
  const { watched = path.slice(0, path.lastIndexOf('/')) } = applied;
  const same = { status: 200, body: { metadata: { resourceVersion: '$(rv)' } } };
  const by = { to: path, by: 'a' };
  return {
    name: `an equal apply of ${what} keeps the version, and no watch hears of it`,
    ranked: [4],
    steps: [
      ...(first === undefined ? [] : [first]),
      apply({ ...by, body, expect: { status: first === undefined ? 201 : 200 }, save }),
      {
        watch: `${watched}?watch=1&resourceVersion=$(rv)`,
        during: [
          apply({ ...by, body, expect: same }),
          apply({ ...by, body, force: true, expect: same }),
          apply({ ...by, body: alike, expect: same }),
          apply({ ...by, body: marker, expect: { status: 200 }, save: { marked: save.rv } }),
        ],
        events: 1,
        expect: [{ type: 'MODIFIED', object: { metadata: { resourceVersion: '$(marked)' } } }],
      },
    ],
  };
}

/** Applies that create, and that say the same again. */
export const applies: readonly ContractCase[] = [
  {
    name: 'an apply makes what is not there, and its fields belong to the manager',
    ranked: [4],
    steps: [
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1 }, { labels: { app: 'x' } }),
        expect: {
          status: 201,
          body: { metadata: { generation: 1 }, spec: { size: 1, level: 3 } },
          owners: { a: ['.metadata.labels.app', '.spec.size'] },
        },
      }),
      get(x, { status: 200, body: { spec: { size: 1, level: 3 } } }),
    ],
  },
  unchanging('a custom resource', x, {
    body: thing({ size: 1, tags: ['a'], nested: { a: 'x', deep: {} } }),
    alike:
      '{"kind":"Thing","apiVersion":"$(group)/v1","spec":{"nested":{"deep":{},"a":"x"},"tags":["a"],"size":1},"metadata":{"name":"x","creationTimestamp":null}}',
    marker: thing({ size: 2, tags: ['a'], nested: { a: 'x', deep: {} } }),
  }),
  unchanging('a ConfigMap', `${configMaps}/x`, {
    body: configMap({ a: '1', b: '2' }),
    alike:
      'kind: ConfigMap\napiVersion: v1\nmetadata: {name: x, namespace: $(ns)}\ndata: {b: "2", a: "1"}',
    marker: configMap({ a: '1', b: '3' }),
  }),
  unchanging("a Deployment, whose defaults are the server's", `${deployments}/x`, {
    body: deployment('web:1'),
    alike: { ...deployment('web:1'), status: {} },
    marker: deployment('web:2'),
  }),
  unchanging('a status', `${x}/status`, {
    first: apply({ to: x, by: 'a', body: thing({}), expect: { status: 201 } }),
    watched: things,
    body: { ...thing({}), status: { phase: 'a', conditions: [{ type: 'A', status: 'True' }] } },
    alike: { ...thing({}), status: { conditions: [{ status: 'True', type: 'A' }], phase: 'a' } },
    marker: { ...thing({}), status: { phase: 'b' } },
  }),
  {
    name: 'an equal apply of another manager is a write: it owns what it says',
    ranked: [4, 7],
    steps: [
      apply({ to: x, by: 'a', body: thing({ size: 1 }), expect: { status: 201 }, save }),
      {
        watch: `${things}?watch=1&resourceVersion=$(rv)`,
        during: [
          apply({
            to: x,
            by: 'b',
            body: thing({ size: 1 }),
            expect: { status: 200, owners: { a: ['.spec.size'], b: ['.spec.size'] } },
          }),
          apply({ to: x, by: 'b', body: thing({ size: 1 }), expect: { status: 200 } }),
          merge(x, { spec: { title: 'end' } }, { status: 200 }),
        ],
        events: 2,
        expect: [
          { type: 'MODIFIED', object: { spec: { size: 1, title: null } } },
          { type: 'MODIFIED', object: { spec: { title: 'end' } } },
        ],
      },
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
  {
    name: 'an apply as a dry run stores nothing',
    ranked: [53],
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
    name: 'ownership in one version holds in the other',
    ranked: [49],
    steps: [
      apply({
        to: olds('v1'),
        by: 'a',
        body: old('v1', { size: 1 }),
        expect: {
          status: 201,
          body: { metadata: { managedFields: [{ apiVersion: '$(group)/v1' }] } },
          owners: { a: ['.spec.size'] },
        },
      }),
      // Read in the other version the entry is still of the writer's.
      get(olds('v2'), {
        status: 200,
        body: {
          apiVersion: '$(group)/v2',
          metadata: { managedFields: [{ apiVersion: '$(group)/v1' }] },
        },
      }),
      apply({
        to: olds('v2'),
        by: 'b',
        body: old('v2', { size: 2 }),
        expect: { status: 409, message: /conflict with "a": \.spec\.size$/ },
      }),
      apply({
        to: olds('v2'),
        by: 'a',
        body: old('v2', { title: 't' }),
        expect: {
          status: 200,
          body: {
            spec: { size: null, title: 't' },
            metadata: { managedFields: [{ manager: 'a', apiVersion: '$(group)/v2' }] },
          },
        },
      }),
      merge(
        `${olds('v1')}?fieldManager=u`,
        { spec: { size: 5 } },
        {
          status: 200,
          body: { apiVersion: '$(group)/v1' },
          owners: { a: ['.spec.title'], 'u (Update)': ['.spec.size'] },
        },
      ),
      apply({
        to: olds('v2'),
        by: 'a',
        body: old('v2', { title: 't', size: 6 }),
        expect: {
          status: 409,
          message: /conflict with "u" using contract\.demo\.io\/v1: \.spec\.size$/,
        },
      }),
    ],
  },
  {
    name: 'empty metadata of a custom resource makes the same apply a write, more often than not',
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
        expect: {
          status: 200,
          differs: {
            'metadata.resourceVersion':
              'a server that was slow to see the first apply writes nothing',
          },
        },
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
