import type { JsonObject } from '#util/json.ts';
import type { ContractCase, RequestStep } from '../driver/index.ts';
import { merge, post } from './requests.ts';
import { suiteGroup } from './suite-crds.ts';

const pods = '/api/v1/namespaces/$(ns)/pods';
const configMaps = '/api/v1/namespaces/$(ns)/configmaps';
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function show(path: string, expect: RequestStep['expect'] = { status: 200 }): RequestStep {
  return { method: 'GET', path, headers: table, expect };
}

function pod(name: string, spec: JsonObject = {}): JsonObject {
  const containers = [{ name: 'c', image: 'web' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, ...spec } };
}

const map = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { a: '1', b: '2' },
});

const old = '2020-01-01T00:00:00Z';
const container = (name: string, state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  image: 'web',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  ...more,
});

/** What a pod's status is, and what is made of it. */
const podStatuses: Readonly<Record<string, readonly [status: JsonObject, spec?: JsonObject]>> = {
  running: [
    {
      phase: 'Running',
      podIPs: [{ ip: '10.1.2.3' }],
      podIP: '10.1.2.3',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [container('c', { running: { startedAt: old } }, { ready: true })],
    },
  ],
  restarted: [
    {
      phase: 'Running',
      containerStatuses: [
        container(
          'c',
          { waiting: { reason: 'CrashLoopBackOff' } },
          {
            restartCount: 3,
            lastState: { terminated: { exitCode: 1, finishedAt: old } },
          },
        ),
      ],
    },
  ],
  succeeded: [
    {
      phase: 'Succeeded',
      containerStatuses: [container('c', { terminated: { exitCode: 0, reason: 'Completed' } })],
    },
  ],
  failed: [
    {
      phase: 'Failed',
      containerStatuses: [container('c', { terminated: { exitCode: 3 } })],
    },
  ],
  killed: [
    {
      phase: 'Failed',
      reason: 'Evicted',
      message: 'gone',
    },
  ],
  initialising: [
    {
      phase: 'Pending',
      initContainerStatuses: [
        container('i', { terminated: { exitCode: 0 } }),
        container('j', { running: { startedAt: old } }),
      ],
    },
    { initContainers: ['i', 'j'].map((name) => ({ name, image: 'web' })) },
  ],
  'init-failed': [
    {
      phase: 'Pending',
      initContainerStatuses: [container('i', { terminated: { exitCode: 2, reason: 'Error' } })],
    },
    { initContainers: [{ name: 'i', image: 'web' }] },
  ],
  gated: [
    {
      phase: 'Running',
      conditions: [{ type: 'demo.io/gate', status: 'True' }],
    },
    { readinessGates: [{ conditionType: 'demo.io/gate' }, { conditionType: 'demo.io/other' }] },
  ],
};

const crd = (columns: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `shows$(ns).${suiteGroup}` },
  spec: {
    group: suiteGroup,
    names: { plural: 'shows$(ns)', kind: 'Show$(ns)' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
        ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns }),
      },
    ],
  },
});

const column = (name: string, type: string, jsonPath: string, more: JsonObject = {}) => ({
  name,
  type,
  jsonPath,
  ...more,
});

const columns = [
  column('Text', 'string', '.spec.text', { description: 'A text', priority: 1 }),
  column('Count', 'integer', '.spec.count'),
  column('Share', 'number', '.spec.share', { format: 'float' }),
  column('Flag', 'boolean', '.spec.flag'),
  column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
  column('First', 'string', '.spec.list[0].name'),
  column('All', 'string', '.spec.list[*].name'),
  column('Object', 'string', '.spec.object'),
  column('Label', 'string', '.metadata.labels.demo\\.io/name'),
  column('Wrong', 'integer', '.spec.text'),
  column('Numbers', 'string', '.spec.count'),
  column('Since', 'date', '.spec.since'),
  column('Age', 'date', '.metadata.creationTimestamp'),
];

const collection = `/apis/${suiteGroup}/v1/namespaces/$(ns)/shows$(ns)`;
const head = { apiVersion: `${suiteGroup}/v1`, kind: 'Show$(ns)' };

/** What `kubectl get` shows. */
export const tables: readonly ContractCase[] = [
  ...Object.entries(podStatuses).map(
    ([name, [status, spec]]): ContractCase => ({
      name: `a pod that is ${name}`,
      ranked: [50],
      steps: [
        post(pods, pod('x', spec), { status: 201 }),
        merge(`${pods}/x/status`, { status }, { status: 200 }),
        show(pods),
      ],
    }),
  ),
  {
    name: 'an object alone, a list, a list in pages',
    ranked: [50],
    steps: [
      ...['a', 'b', 'c'].map((name) => post(configMaps, map(name), { status: 201 })),
      show(configMaps),
      show(`${configMaps}/a`),
      show(`${configMaps}?limit=2`),
      show(`${configMaps}?labelSelector=none`),
      show(`${configMaps}/none`, { status: 404 }),
    ],
  },
  {
    name: 'the part of objects that comes along',
    ranked: [50],
    steps: [
      post(configMaps, map('a'), { status: 201 }),
      ...['None', 'Metadata', 'Object', ''].map((part) =>
        show(`${configMaps}?includeObject=${part}`),
      ),
      show(`${configMaps}?includeObject=Nonsense`, { status: 400 }),
      {
        method: 'GET',
        path: configMaps,
        headers: { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' },
        expect: { status: 200 },
      },
      {
        method: 'GET',
        path: configMaps,
        headers: { accept: 'application/json;as=Table;v=v2;g=meta.k8s.io' },
        expect: { status: 406 },
      },
    ],
  },
  {
    name: 'writes are shown as tables, too',
    ranked: [50],
    steps: [
      { method: 'POST', path: configMaps, body: map('a'), headers: table, expect: { status: 201 } },
      { method: 'DELETE', path: `${configMaps}/a`, headers: table, expect: { status: 200 } },
    ],
  },
  {
    name: 'a watch names its columns once',
    ranked: [50],
    steps: [
      post(configMaps, map('a'), { status: 201 }),
      {
        watch: `${configMaps}?watch=true`,
        headers: table,
        during: [
          post(configMaps, map('b'), { status: 201 }),
          merge(`${configMaps}/a`, { data: { a: null } }, { status: 200 }),
        ],
        events: 3,
        expect: [{ type: 'ADDED' }, { type: 'ADDED' }, { type: 'MODIFIED' }],
      },
    ],
  },
  {
    name: 'a watch with bookmarks',
    ranked: [50, 36],
    steps: [
      post(configMaps, map('a'), { status: 201 }),
      {
        watch: `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        headers: table,
        events: 2,
        expect: [{ type: 'ADDED' }, { type: 'BOOKMARK' }],
      },
    ],
  },
  {
    name: 'columns of a CRD',
    ranked: [50],
    steps: [
      post(crds, crd(columns), { status: 201 }),
      { until: collection, expect: { status: 200 } },
      post(collection, { ...head, metadata: { name: 'empty' } }, { status: 201 }),
      post(
        collection,
        {
          ...head,
          metadata: { name: 'full', labels: { 'demo.io/name': 'n' } },
          spec: {
            text: 'x',
            count: 3,
            share: 1.5,
            flag: true,
            list: [{ name: 'one' }, { name: 'two' }],
            object: { b: [1], a: 'x' },
            since: old,
          },
          status: {
            conditions: [
              { type: 'Other', status: 'False' },
              { type: 'Ready', status: 'True' },
            ],
          },
        },
        { status: 201 },
      ),
      post(
        collection,
        { ...head, metadata: { name: 'odd' }, spec: { text: null, count: 'x', since: 'never' } },
        { status: 201 },
      ),
      show(collection),
    ],
  },
  {
    name: 'a CRD without columns shows the age',
    ranked: [50],
    steps: [
      post(crds, crd([]), { status: 201 }),
      { until: collection, expect: { status: 200 } },
      post(collection, { ...head, metadata: { name: 'x' } }, { status: 201 }),
      show(collection),
      show(`${collection}/x`),
    ],
  },
];
