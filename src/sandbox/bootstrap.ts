import type { JsonObject } from '#util/json.ts';
import { stringField } from './json-fields.ts';
import { createObject } from './rest/create-object.ts';
import type { RestContext, Target } from './rest/rest-context.ts';
import { storeKey } from './store/stored-object.ts';

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Objects that other components of a real cluster create. */
const clusterObjects: readonly JsonObject[] = [
  ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      clusterIP: '10.96.0.1',
      ports: [{ name: 'https', port: 443, targetPort: 6443 }],
    },
  },
  ...[
    ['system-cluster-critical', 2_000_000_000] as const,
    ['system-node-critical', 2_000_001_000] as const,
  ].map(([name, value]) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description: 'Used for system critical pods.',
  })),
];

/** The node that simulated pods run on. */
function sandboxNode(version: string): JsonObject {
  const capacity = { cpu: '64', memory: '256Gi', pods: '10000' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'sandbox-node',
      labels: { 'kubernetes.io/hostname': 'sandbox-node', 'kubernetes.io/os': 'linux' },
    },
    status: {
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
      capacity,
      allocatable: capacity,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Simulated',
          message: 'This node is simulated: it runs nothing',
        },
      ],
      nodeInfo: {
        kubeletVersion: version,
        osImage: 'sandbox',
        kernelVersion: 'none',
        containerRuntimeVersion: 'none://simulated',
        operatingSystem: 'linux',
        architecture: 'none',
      },
    },
  };
}

interface BootstrapOptions {
  /** `v1.36.3`. */
  readonly version: string;
  /** Pods are simulated, and need a node. */
  readonly hasNode: boolean;
}

/** Creates those objects of every cluster that do not exist yet. */
export function bootstrap(rest: RestContext, { version, hasNode }: BootstrapOptions): void {
  const objects = hasNode ? [...clusterObjects, sandboxNode(version)] : clusterObjects;
  for (const object of objects) ensureObject(rest, object);
}

function ensureObject(rest: RestContext, object: JsonObject): void {
  const kind = rest.kinds
    .all()
    .find(
      ({ apiVersion, names }) => apiVersion === object.apiVersion && names.kind === object.kind,
    );
  if (kind === undefined) throw new Error(`Expected "${object.kind}" among the built-in kinds`);
  const metadata = object.metadata as JsonObject;
  const namespace = stringField(metadata, 'namespace') ?? '';
  const key = storeKey(namespace, stringField(metadata, 'name') ?? '');
  if (rest.store.get(kind.collection, key) !== undefined) return;
  const target: Target = { kind, namespace, name: '', subresource: '' };
  createObject(rest, target, {
    text: JSON.stringify(object),
    contentType: 'application/json',
    options: { manager: 'kube-apiserver', dryRun: false, fieldValidation: 'Warn', force: false },
  });
}
