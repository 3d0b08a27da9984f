import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { post } from './requests.ts';
import { deployments, podTemplate, workload } from './workload-bodies.ts';

/** A Deployment with this in its template, which is rejected. */
function mistaken(name: string, template: JsonObject): ContractCase {
  return {
    name: `a template with ${name} is rejected`,
    ranked: [42],
    steps: [post(deployments, workload('Deployment', { template }), { status: 422 })],
  };
}

function pod(name: string, spec: JsonObject): ContractCase {
  return mistaken(name, podTemplate('web:1', spec));
}

function container(name: string, fields: JsonObject): ContractCase {
  return pod(name, { containers: [{ name: 'c', image: 'web:1', ...fields }] });
}

function volumes(name: string, ...list: readonly Json[]): ContractCase {
  return pod(name, { volumes: list });
}

function mounts(name: string, ...list: readonly Json[]): ContractCase {
  const containers = [{ name: 'c', image: 'web:1', volumeMounts: list }];
  return pod(name, { volumes: [{ name: 'data', emptyDir: {} }], containers });
}

function resources(name: string, fields: JsonObject): ContractCase {
  return container(name, { resources: fields });
}

function probe(name: string, fields: JsonObject, at = 'livenessProbe'): ContractCase {
  return container(name, { [at]: fields });
}

function variable(name: string, fields: JsonObject): ContractCase {
  return container(name, { env: [{ name: 'A', ...fields }] });
}

const ok = { httpGet: { port: 80 } };

/** Mistakes that authors make in templates of pods. */
export const templateMistakes: readonly ContractCase[] = [
  mistaken('a label key that is none', {
    metadata: { labels: { app: 'x', 'a b': 'c' } },
    spec: { containers: [{ name: 'c', image: 'web:1' }] },
  }),
  mistaken('a label value that is none', {
    metadata: { labels: { app: 'x', a: 'b c' } },
    spec: { containers: [{ name: 'c', image: 'web:1' }] },
  }),
  mistaken('an annotation key that is none', {
    metadata: { labels: { app: 'x' }, annotations: { 'a/b/c': 'd' } },
    spec: { containers: [{ name: 'c', image: 'web:1' }] },
  }),
  pod('pods that end', { restartPolicy: 'Never' }),
  pod('an unknown restartPolicy', { restartPolicy: 'Sometimes' }),
  pod('an unknown dnsPolicy', { dnsPolicy: 'Guess' }),
  pod('a deadline', { activeDeadlineSeconds: 5 }),
  pod('a deadline of nothing', { activeDeadlineSeconds: 0 }),
  pod('a node selector that is none', { nodeSelector: { 'a b': 'c' } }),
  pod('an account in capitals', { serviceAccountName: 'Robot' }),
  pod('a hostname with dots', { hostname: 'a.b' }),
  pod('a class of priority in capitals', { priorityClassName: 'High_' }),
  pod('a container name twice', {
    containers: [
      { name: 'c', image: 'a' },
      { name: 'c', image: 'b' },
    ],
  }),
  pod('the name of a container for one before it', {
    initContainers: [{ name: 'c', image: 'a' }],
  }),
  pod('a probe of a container that ends', {
    initContainers: [{ name: 'i', image: 'a', readinessProbe: ok, lifecycle: {} }],
  }),
  pod('a container before the others that lacks an image', { initContainers: [{ name: 'i' }] }),
  container('a container name in capitals', { name: 'Web' }),
  container('a container name with dots', { name: 'a.b' }),
  container('a container name that is too long', { name: 'x'.repeat(64) }),
  container('no image', { image: '' }),
  container('an unknown imagePullPolicy', { imagePullPolicy: 'Sometimes' }),
  container('an unknown terminationMessagePolicy', { terminationMessagePolicy: 'None' }),
  container('a port name that is too long', {
    ports: [{ containerPort: 80, name: 'much-too-long-a-name' }],
  }),
  container('a port name in capitals', { ports: [{ containerPort: 80, name: 'Web_' }] }),
  container('a port name without letters', { ports: [{ containerPort: 80, name: '80' }] }),
  container('a port name with hyphens', { ports: [{ containerPort: 80, name: '-a--b-' }] }),
  container('a port name twice', {
    ports: [
      { containerPort: 80, name: 'web' },
      { containerPort: 81, name: 'web' },
    ],
  }),
  container('ports that are none', {
    ports: [{ containerPort: 0 }, { containerPort: 70_000 }, { containerPort: 80, hostPort: -1 }],
  }),
  container('an unknown protocol', { ports: [{ containerPort: 80, protocol: 'HTTP' }] }),
  container('a port of the node twice', {
    ports: [
      { containerPort: 80, hostPort: 80 },
      { containerPort: 81, hostPort: 80 },
    ],
  }),
  mounts('a mount of an unknown volume', { name: 'other', mountPath: '/a' }),
  mounts('a mount without a name', { mountPath: '/a' }),
  mounts('a mount without a path', { name: 'data' }),
  mounts(
    'a path that is mounted twice',
    { name: 'data', mountPath: '/a' },
    { name: 'data', mountPath: '/a' },
  ),
  mounts('a path within a volume that leaves it', {
    name: 'data',
    mountPath: '/a',
    subPath: '../b',
  }),
  mounts('an absolute path within a volume', { name: 'data', mountPath: '/a', subPath: '/b' }),
  mounts('two paths within a volume', {
    name: 'data',
    mountPath: '/a',
    subPath: 'b',
    subPathExpr: '../c',
  }),
  volumes('a volume of two sources', {
    name: 'data',
    emptyDir: {},
    configMap: { name: 'x' },
    secret: { secretName: 'y' },
  }),
  volumes('a volume name twice', { name: 'data' }, { name: 'data' }),
  volumes('a volume name in capitals', { name: 'Data' }),
  volumes('a volume without a name', { emptyDir: {} }),
  volumes('a ConfigMap without a name', { name: 'data', configMap: {} }),
  volumes('a Secret without a name', { name: 'data', secret: {} }),
  volumes('a claim without a name', { name: 'data', persistentVolumeClaim: { claimName: '' } }),
  volumes('a path of the node that is none', { name: 'data', hostPath: { path: '' } }),
  volumes('a path of the node with steps back', {
    name: 'data',
    hostPath: { path: '/a/../b', type: 'Thing' },
  }),
  volumes('files that are none', {
    name: 'data',
    configMap: {
      name: 'x',
      defaultMode: 1000,
      items: [
        { key: '', path: '' },
        { key: 'a', path: '/a', mode: -1 },
        { key: 'a', path: '..a' },
      ],
    },
  }),
  volumes('less than no space', { name: 'data', emptyDir: { sizeLimit: '-1' } }),
  resources('requests over limits', { limits: { cpu: '1' }, requests: { cpu: '1500m' } }),
  resources('less than nothing', { limits: { memory: '-1Mi' } }),
  resources('requests of less than nothing', { requests: { cpu: '-1' } }),
  resources('an unknown resource', { limits: { disk: '1' } }),
  resources('a resource of others', { requests: { pods: '1' } }),
  resources('half a device', { limits: { 'x.io/gpu': '500m' } }),
  resources('a device without a limit', { requests: { 'x.io/gpu': '1' } }),
  resources('more devices than asked for', {
    limits: { 'x.io/gpu': '2' },
    requests: { 'x.io/gpu': '1' },
  }),
  resources('a resource name that is none', { limits: { 'a b': '1' } }),
  probe('a probe of nothing', {}),
  probe('a probe of two sorts', { ...ok, tcpSocket: { port: 80 } }),
  probe('numbers of a probe below zero', {
    ...ok,
    initialDelaySeconds: -1,
    timeoutSeconds: -1,
    periodSeconds: -2,
    failureThreshold: -3,
  }),
  probe('a liveness probe of several successes', { ...ok, successThreshold: 2 }),
  probe('a startup probe of several successes', { ...ok, successThreshold: 2 }, 'startupProbe'),
  probe(
    'a readiness probe with a time to end',
    { ...ok, terminationGracePeriodSeconds: 5 },
    'readinessProbe',
  ),
  probe('a probe with less than no time to end', { ...ok, terminationGracePeriodSeconds: -5 }),
  probe('a probe of a port name that is none', { httpGet: { port: 'Web_' } }),
  probe('a probe of a port that is none', { tcpSocket: { port: 0 } }),
  probe('a probe of an unknown scheme', {
    httpGet: { port: 80, scheme: 'FTP', httpHeaders: [{ name: 'a b', value: 'c' }] },
  }),
  probe('a probe that runs nothing', { exec: {} }),
  container('a hook of two sorts', {
    lifecycle: { preStop: { exec: { command: ['a'] }, httpGet: { port: 80 } } },
  }),
  container('a hook of nothing', { lifecycle: { postStart: {} } }),
  variable('a variable without a name', { name: '' }),
  variable('a variable with an equals sign', { name: 'A=B' }),
  variable('a variable from nowhere', { valueFrom: {} }),
  variable('a variable from two places', {
    valueFrom: {
      fieldRef: { fieldPath: 'metadata.name' },
      secretKeyRef: { name: 'x', key: 'y' },
    },
  }),
  variable('a variable with a value from elsewhere, too', {
    value: 'b',
    valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
  }),
  variable('a variable from an unknown field', {
    valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } },
  }),
  variable('a variable from a field that is none', {
    valueFrom: { fieldRef: { fieldPath: 'spec.replicas' } },
  }),
  variable('a variable from a label that is none', {
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } },
  }),
  variable('a variable from an unknown resource', {
    valueFrom: { resourceFieldRef: { resource: 'limits.disk' } },
  }),
  variable('a variable from a key that is none', {
    valueFrom: { configMapKeyRef: { name: '', key: 'a b' } },
  }),
  variable('a variable from a Secret in capitals', {
    valueFrom: { secretKeyRef: { name: 'X', key: '' } },
  }),
  container('variables from nowhere', { envFrom: [{}] }),
  container('variables from two places', {
    envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: '' } }],
  }),
  container('a prefix of variables that is none', {
    envFrom: [{ prefix: 'ü', configMapRef: { name: 'A' } }],
  }),
  {
    name: 'several errors of a template are reported at once',
    steps: [
      post(
        deployments,
        workload('Deployment', {
          template: podTemplate('web:1', {
            volumes: [{ name: 'A' }],
            containers: [
              {
                name: 'c',
                image: 'web:1',
                imagePullPolicy: 'Often',
                volumeMounts: [{ name: 'A', mountPath: '/a' }],
                resources: { limits: { cpu: '1' }, requests: { cpu: '2' } },
              },
            ],
          }),
        }),
        { status: 422 },
      ),
    ],
  },
  {
    name: 'a template with all that is right is taken',
    steps: [
      post(
        deployments,
        workload('Deployment', {
          template: podTemplate('web:1', {
            volumes: [
              { name: 'data', emptyDir: { sizeLimit: '1Gi' } },
              { name: 'conf', configMap: { name: 'x', items: [{ key: 'a', path: 'b/c' }] } },
              { name: 'host', hostPath: { path: '/a', type: 'Directory' } },
            ],
            initContainers: [
              { name: 'side', image: 'a', restartPolicy: 'Always', startupProbe: ok },
            ],
            containers: [
              {
                name: 'c',
                image: 'web:1',
                ports: [{ containerPort: 80, name: 'web' }],
                env: [
                  { name: 'a b', value: '1' },
                  { name: 'L', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
                  { name: 'M', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } },
                  { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: '.k' } } },
                ],
                envFrom: [{ prefix: 'P_', configMapRef: { name: 'x' } }],
                volumeMounts: [{ name: 'data', mountPath: '/a', subPathExpr: 'sub' }],
                livenessProbe: { grpc: { port: 80 } },
                readinessProbe: { httpGet: { port: 'web' }, successThreshold: 3 },
                lifecycle: { preStop: { sleep: { seconds: 5 } } },
                resources: {
                  limits: { cpu: '1', 'x.io/gpu': '2' },
                  requests: { cpu: '1000m', 'x.io/gpu': '2', 'ephemeral-storage': '1Gi' },
                },
              },
            ],
          }),
        }),
        { status: 201 },
      ),
    ],
  },
];
