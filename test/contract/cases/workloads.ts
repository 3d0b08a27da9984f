import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { apply, get, jsonPatch, merge, post } from './requests.ts';

const deployments = '/apis/apps/v1/namespaces/$(ns)/deployments';
const replicaSets = '/apis/apps/v1/namespaces/$(ns)/replicasets';
const jobs = '/apis/batch/v1/namespaces/$(ns)/jobs';
const pods = '/api/v1/namespaces/$(ns)/pods';

const labels = { app: 'web' };

function template(spec: JsonObject = {}): JsonObject {
  return { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'web:1' }], ...spec } };
}

function workload(kind: string, spec: JsonObject): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'x' },
    spec: { selector: { matchLabels: labels }, template: template(), ...spec },
  };
}

/** Entries of the scale are not ordered by time either. */
const untimed = {
  'metadata.managedFields': 'an apply by way of the scale has no time on the server',
};

const scale = (replicas: number): JsonObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'x' },
  spec: { replicas },
});

const job = (spec: JsonObject): JsonObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'x' },
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'a' }] } },
    ...spec,
  },
});

const pod = (spec: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'x' },
  spec: { containers: [{ name: 'c', image: 'web' }], ...spec },
});

const image = { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'b' };
const printed = {
  message: 'prints structs of the server',
  'details.causes': 'prints structs of the server, and may name the spec of the template',
};

function rejected(name: string, path: string, body: Json): ContractCase {
  return { name: `${name} is rejected`, ranked: [58], steps: [post(path, body, { status: 422 })] };
}

const rich = {
  serviceAccountName: 'robot',
  volumes: [
    { name: 'a', configMap: { name: 'a' } },
    { name: 'b', secret: { secretName: 'b' } },
    { name: 'c', emptyDir: {} },
    { name: 'd', hostPath: { path: '/tmp' } },
  ],
  containers: [
    {
      name: 'c',
      image: 'registry:5000/web',
      stdin: false,
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
      env: [
        { name: 'A', value: '' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      resources: { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { memory: '1.5Gi' } },
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { tcpSocket: { port: 'dns' }, periodSeconds: 3 },
      volumeMounts: [{ name: 'a', mountPath: '/a' }],
    },
  ],
};

/** Built-in workloads, as they are stored: no controllers run. */
export const workloads: readonly ContractCase[] = [
  {
    name: 'a Deployment gets its defaults, which belong to its creator',
    ranked: [58],
    steps: [
      post(deployments, workload('Deployment', {}), {
        status: 201,
        body: { spec: { replicas: 1 } },
      }),
    ],
  },
  {
    name: 'an applied Deployment gets its defaults, which have no owner',
    ranked: [58],
    steps: [
      apply({
        to: `${deployments}/x`,
        by: 'a',
        body: workload('Deployment', { replicas: 2 }),
        expect: { status: 201 },
      }),
      apply({
        to: `${deployments}/x`,
        by: 'a',
        body: workload('Deployment', {}),
        expect: { status: 200, body: { spec: { replicas: 1 } } },
      }),
      merge(`${deployments}/x`, { spec: { paused: false, minReadySeconds: 0 } }, { status: 200 }),
    ],
  },
  {
    name: 'a rich template is completed',
    ranked: [58],
    steps: [
      post(
        deployments,
        workload('Deployment', { template: template(rich), strategy: { type: 'Recreate' } }),
        { status: 201 },
      ),
      apply({
        to: `${deployments}/y`,
        by: 'a',
        body: { ...workload('Deployment', { template: template(rich) }), metadata: { name: 'y' } },
        expect: { status: 201 },
      }),
    ],
  },
  {
    name: 'a ReplicaSet and a Job get their defaults',
    steps: [
      post(replicaSets, workload('ReplicaSet', {}), { status: 201 }),
      post(jobs, job({}), { status: 201 }),
      post(jobs, { ...job({ completions: 3 }), metadata: { name: 'y' } }, { status: 201 }),
    ],
  },
  {
    name: 'generation counts the spec of a Deployment, not its status',
    steps: [
      post(deployments, workload('Deployment', {}), {
        status: 201,
        body: { metadata: { generation: 1 } },
      }),
      merge(
        `${deployments}/x`,
        { spec: { replicas: 3 } },
        { status: 200, body: { metadata: { generation: 2 } } },
      ),
      merge(
        `${deployments}/x`,
        { metadata: { labels: { a: 'b' } } },
        { status: 200, body: { metadata: { generation: 2 } } },
      ),
      merge(
        `${deployments}/x/status`,
        { status: { replicas: 3 }, spec: { replicas: 9 } },
        { status: 200, body: { metadata: { generation: 2 }, spec: { replicas: 3 } } },
      ),
    ],
  },
  {
    name: 'a Deployment is scaled',
    ranked: [52],
    steps: [
      post(deployments, workload('Deployment', { replicas: 2 }), { status: 201 }),
      get(`${deployments}/x/scale`, { status: 200, body: { spec: { replicas: 2 } } }),
      merge(
        `${deployments}/x/scale`,
        { spec: { replicas: 4 } },
        { status: 200, body: { spec: { replicas: 4 } } },
      ),
      get(`${deployments}/x`, { status: 200, body: { spec: { replicas: 4 } } }),
      merge(`${deployments}/x/scale`, { spec: { replicas: -1 } }, { status: 422 }),
    ],
  },
  {
    name: 'a Pod gets its defaults',
    steps: [
      post(pods, pod({}), { status: 201 }),
      post(pods, { ...pod(rich), metadata: { name: 'y' } }, { status: 201 }),
      jsonPatch(
        `${pods}/x`,
        [{ op: 'replace', path: '/spec/containers/0/image', value: 'web:2' }],
        {
          status: 200,
        },
      ),
    ],
  },
  rejected(
    'a Deployment without a selector',
    deployments,
    workload('Deployment', { selector: null }),
  ),
  rejected(
    'a Deployment that selects nothing of its own',
    deployments,
    workload('Deployment', { selector: { matchLabels: { app: 'other' } } }),
  ),
  rejected(
    'a Deployment without containers',
    deployments,
    workload('Deployment', { template: { metadata: { labels } } }),
  ),
  rejected(
    'a container without an image',
    deployments,
    workload('Deployment', { template: template({ containers: [{ name: 'c' }] }) }),
  ),
  rejected(
    'a Deployment whose pods are not restarted',
    deployments,
    workload('Deployment', { template: template({ restartPolicy: 'Never' }) }),
  ),
  rejected(
    'a Job whose pods are restarted',
    jobs,
    job({ template: { spec: { containers: [{ name: 'c', image: 'a' }] } } }),
  ),
  rejected('a Pod without containers', pods, pod({ containers: [] })),
  ...['replicas', 'minReadySeconds', 'revisionHistoryLimit'].map((name) =>
    rejected(
      `a Deployment with ${name} below zero`,
      deployments,
      workload('Deployment', { [name]: -1 }),
    ),
  ),
  ...['replicas', 'minReadySeconds'].map((name) =>
    rejected(
      `a ReplicaSet with ${name} below zero`,
      replicaSets,
      workload('ReplicaSet', { [name]: -1 }),
    ),
  ),
  ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit'].map((name) =>
    rejected(`a Job with ${name} below zero`, jobs, job({ [name]: -1 })),
  ),
  {
    name: 'the template of a Job stays, but for where its pods run while it is suspended',
    steps: [
      post(jobs, job({ suspend: true }), { status: 201 }),
      jsonPatch(`${jobs}/x`, [image], { status: 422, differs: printed }),
      merge(
        `${jobs}/x`,
        { spec: { template: { metadata: { labels }, spec: { nodeSelector: { a: 'b' } } } } },
        { status: 200 },
      ),
      merge(`${jobs}/x`, { spec: { suspend: false } }, { status: 200 }),
      jsonPatch(`${jobs}/x`, [image], { status: 422, differs: printed }),
    ],
  },
  {
    name: 'the selector of a Deployment stays',
    ranked: [58],
    steps: [
      post(deployments, workload('Deployment', {}), { status: 201 }),
      merge(
        `${deployments}/x`,
        {
          spec: {
            selector: { matchLabels: { app: 'other' } },
            template: { metadata: { labels: { app: 'other' } } },
          },
        },
        { status: 422 },
      ),
    ],
  },
  {
    name: 'replicas are applied by way of the scale',
    ranked: [52],
    steps: [
      apply({
        to: `${deployments}/x`,
        by: 'a',
        body: workload('Deployment', { replicas: 2 }),
        expect: { status: 201 },
      }),
      apply({ to: `${deployments}/x/scale`, by: 'b', body: scale(3), expect: { status: 409 } }),
      apply({
        to: `${deployments}/x/scale`,
        by: 'b',
        body: scale(3),
        force: true,
        expect: { status: 200, body: { spec: { replicas: 3 } } },
      }),
      get(`${deployments}/x`, { status: 200, differs: untimed }),
      apply({
        to: `${deployments}/x/scale`,
        by: 'b',
        body: scale(3),
        expect: { status: 200 },
      }),
      apply({
        to: `${deployments}/none/scale`,
        by: 'b',
        body: { ...scale(3), metadata: { name: 'none' } },
        expect: { status: 404 },
      }),
      apply({
        to: `${deployments}/x/scale`,
        by: 'b',
        body: workload('Deployment', {}),
        expect: { status: 400 },
      }),
      get(`${deployments}/x`, { status: 200, differs: untimed }),
    ],
  },
];
