// `node bench/intent.ts`: what deciding about one Deployment costs, in us. Absolute times mean little on a shared machine;
// `JSON.stringify` of the same object is there for scale.
import { bundledSchemas, createSchemaCompiler } from '#compile';
import { covers, differences } from '#reconcile/intent/compare.ts';
import { pathHash } from '#reconcile/intent/path-hash.ts';
import { prepare } from '#reconcile/intent/prepare.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';

const warmUpRuns = 20_000;
const measuredRuns = 100_000;

const schema = bundledSchemas().schemaFor(gvkOf('apps/v1', 'Deployment'));
if (schema === undefined) throw new Error('Expected the schema of Deployment');
const type = createSchemaCompiler().compile(schema);
const intent = prepare(manifest('500m'), type, { hasStatus: true });
const live = asStored(intent);
const respelt = prepare(manifest('0.5'), type, { hasStatus: true });
const outdated = { ...live, spec: { ...(live.spec as object), replicas: 5 } };

measure('prepare', () => prepare(intent, type, { hasStatus: true }));
measure('pathHash', () => pathHash(intent, type));
measure('covers', () => covers(intent, live, type));
measure('covers, a quantity in another spelling', () => covers(respelt, live, type));
measure('covers, a difference found early', () => covers(intent, outdated, type));
measure('differences, none', () => differences(intent, live, type));
measure('differences, one', () => differences(intent, outdated, type));
measure('JSON.stringify, for scale', () => JSON.stringify(live));

function measure(name: string, run: () => unknown): void {
  for (let index = 0; index < warmUpRuns; index++) run();
  const startMs = performance.now();
  for (let index = 0; index < measuredRuns; index++) run();
  const us = ((performance.now() - startMs) * 1000) / measuredRuns;
  console.log(`${us.toFixed(2).padStart(8)} us  ${name}`);
}

/** Two probes, two volumes, environment, resources, our labels and owner reference. */
function manifest(cpu: string): KubeObject {
  const probe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 5 };
  const container = {
    name: 'web',
    image: 'nginx:1.27',
    ports: [{ name: 'http', containerPort: 8080 }],
    env: [
      { name: 'MODE', value: 'production' },
      { name: 'LEVEL', value: 'info' },
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'web', key: 'token' } } },
    ],
    resources: { requests: { cpu, memory: '64Mi' }, limits: { memory: '128Mi' } },
    readinessProbe: probe,
    livenessProbe: probe,
    volumeMounts: [
      { name: 'config', mountPath: '/etc/web' },
      { name: 'data', mountPath: '/data' },
    ],
  };
  const volumes = [
    { name: 'config', configMap: { name: 'web' } },
    { name: 'data', emptyDir: {} },
  ];
  const owner = { apiVersion: 'example.com/v1', kind: 'Web', name: 'web', uid: 'a-uid' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'default',
      labels: {
        'app.kubernetes.io/managed-by': 'homeostat',
        'homeostat.dev/definition': 'web',
        'homeostat.dev/child': 'deployment',
        'homeostat.dev/owner-uid': 'a-uid',
      },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [container], volumes },
      },
    },
  };
}

/** The intent with what a server adds. */
function asStored(applied: KubeObject): KubeObject {
  const stored = structuredClone(applied) as unknown as Stored;
  Object.assign(stored.metadata, { uid: 'u', resourceVersion: '7', generation: 1 });
  const { spec } = stored;
  Object.assign(spec, { progressDeadlineSeconds: 600, revisionHistoryLimit: 10 });
  const pod = spec.template.spec;
  Object.assign(pod, { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always', securityContext: {} });
  const [container] = pod.containers;
  Object.assign(container ?? {}, { imagePullPolicy: 'IfNotPresent' });
  for (const port of container?.ports ?? []) port.protocol = 'TCP';
  for (const probe of [container?.readinessProbe, container?.livenessProbe])
    Object.assign(probe ?? {}, { timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 });
  return { ...(stored as unknown as KubeObject), status: { replicas: 3, readyReplicas: 3 } };
}

interface Stored {
  readonly metadata: object;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly ports: readonly { protocol?: string }[];
          readonly readinessProbe: object;
          readonly livenessProbe: object;
        }[];
      };
    };
  };
}
