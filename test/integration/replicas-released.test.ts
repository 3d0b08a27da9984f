import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  customKind,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const startHomeostat = useHomeostat(shared);

/** A workload whose replicas and history belong to the template unless `spec.auto`. A ReplicaSet has no history. */
const workload = (kind: string, more = '') => `  children:
    - id: web
      ready: true
      template:
        apiVersion: apps/v1
        kind: ${kind}
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: "\${? spec.auto ? null : spec.size }"
          ${kind === 'ReplicaSet' ? 'minReadySeconds' : 'revisionHistoryLimit'}: "\${? spec.auto ? null : 3 }"
          ${more}
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" } }
            spec: { containers: [{ name: web, image: web }] }
    - id: autoscaler
      ready: true
      when: \${ spec.auto = true }
      template:
        apiVersion: autoscaling/v2
        kind: HorizontalPodAutoscaler
        metadata: { name: "\${ metadata.name }" }
        spec:
          scaleTargetRef: { apiVersion: apps/v1, kind: ${kind}, name: "\${ metadata.name }" }
          minReplicas: 2
          maxReplicas: 9
          metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 80 } } }]
`;
const patched = `  patches:
    - id: size
      target: { apiVersion: apps/v1, kind: Deployment, name: "\${ metadata.name }" }
      patch: { spec: { replicas: "\${? spec.size }", minReadySeconds: "\${ spec.seconds }" } }
`;
const pool = `  children:
    - id: pool
      template:
        apiVersion: pools.example.org/v1
        kind: Pool
        metadata: { name: "\${ metadata.name }" }
        spec: { replicas: "\${? spec.auto ? null : spec.size }", color: "\${? spec.auto ? null : 'red' }" }
`;
/** A kind of another operator: nothing has a default, so a field that is dropped is removed. */
const poolCrd = customKind({
  group: 'pools.example.org',
  kind: 'Pool',
  properties: {
    spec: {
      type: 'object',
      properties: { replicas: { type: 'integer' }, color: { type: 'string' } },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' } } },
  },
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
});
const definitions = {
  'patched.yaml': thingDefinition('patched', patched),
  'deployed.yaml': thingDefinition('deployed', workload('Deployment')),
  'stateful.yaml': thingDefinition('stateful', workload('StatefulSet', 'serviceName: web')),
  'replicated.yaml': thingDefinition('replicated', workload('ReplicaSet')),
  'reported.yaml': thingDefinition(
    'reported',
    workload('Deployment').replace('- id: web\n', '- id: web\n      conflicts: Report\n'),
  ),
  'pooled.yaml': thingDefinition('pooled', pool),
};

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly revisionHistoryLimit: number;
    readonly minReadySeconds?: number;
  };
}

const kinds = [
  ['deployed', 'Deployment', 'deployments'],
  ['stateful', 'StatefulSet', 'statefulsets'],
  ['replicated', 'ReplicaSet', 'replicasets'],
] as const;

shared.describe('integration/replicas-released', () => {
  before(async () => {
    await shared.client().installCrd(poolCrd);
    await startHomeostat(definitions);
  });

  for (const [definition, kind, plural] of kinds) {
    const pathOf = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/${plural}/one`;

    const settled = async (namespace: string, spec: unknown): Promise<Workload> => {
      const client = shared.client();
      const applied = await client.apply(thing(definition, namespace, spec));
      await client.untilObject(
        thingPath(definition, namespace),
        (object) =>
          conditionOf(object)?.status === 'True' &&
          statusOf(object).observedGeneration === applied.metadata.generation,
      );
      const found = await client.get<Workload>(pathOf(namespace));
      assert.ok(found);
      return found;
    };

    test(`the replicas of a ${kind} that leave the template keep their value, other fields return to their defaults`, async () => {
      const namespace = await shared.namespace();
      const before = await settled(namespace, { size: 3 });
      assert.equal(before.spec.replicas, 3);
      const since = shared.audit.mark();
      const after = await settled(namespace, { auto: true, size: 3 });
      assert.equal(after.spec.replicas, 3);
      assert.equal(after.spec.revisionHistoryLimit, kind === 'ReplicaSet' ? undefined : 10);
      assert.equal(after.spec.minReadySeconds, undefined);
      // The edit and one apply: at no time were there other replicas.
      assert.equal(after.metadata.generation, (before.metadata.generation ?? 0) + 1);
      const writes = shared.audit
        .entries({ since })
        .filter((entry) => entry.resource === plural && entry.namespace === namespace)
        .map(({ verb }) => verb);
      assert.deepEqual(writes, ['get', 'patch', 'patch']);
    });

    test(`what scales a ${kind} afterwards is kept, and the template takes the replicas back`, async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      await settled(namespace, { size: 3 });
      await settled(namespace, { auto: true, size: 3 });
      await client.patch(`${pathOf(namespace)}/scale`, { spec: { replicas: 6 } });
      await shared.audit.quiet(1_500);
      assert.equal((await client.get<Workload>(pathOf(namespace)))?.spec.replicas, 6);
      const taken = await settled(namespace, { size: 4 });
      assert.equal(taken.spec.replicas, 4);
      const again = await settled(namespace, { auto: true, size: 4 });
      assert.equal(again.spec.replicas, 4);
    });

    test(`a new ${kind} without replicas has the default`, async () => {
      const namespace = await shared.namespace();
      const made = await settled(namespace, { auto: true });
      assert.equal(made.spec.replicas, 1);
    });
  }

  test('the replicas of a custom kind that leave the template keep their value, other fields are removed', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/apis/pools.example.org/v1/namespaces/${namespace}/pools/one`;
    const untilSpec = async (spec: unknown, expected: unknown) => {
      await client.apply(thing('pooled', namespace, spec));
      await client.untilObject(path, (pool) => isDeepStrictEqual(pool?.spec, expected));
    };
    await untilSpec({ size: 3 }, { replicas: 3, color: 'red' });
    await untilSpec({ size: 3, auto: true }, { replicas: 3 });
    await client.patch(`${path}/scale`, { spec: { replicas: 6 } });
    await shared.audit.quiet(1_500);
    assert.deepEqual((await client.get(path))?.spec, { replicas: 6 });
    await untilSpec({ size: 4 }, { replicas: 4, color: 'red' });
  });

  test('with "conflicts: Report", released replicas are taken back without a conflict, unless another manager has taken them over', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/one`;
    const untilReason = async (spec: unknown, expected: string) => {
      const applied = await client.apply(thing('reported', namespace, spec));
      return client.untilObject(
        thingPath('reported', namespace),
        (object) =>
          conditionOf(object)?.reason === expected &&
          conditionOf(object)?.observedGeneration === applied.metadata.generation,
      );
    };
    const replicas = async () => (await client.get<Workload>(path))?.spec.replicas;
    await untilReason({ size: 3 }, 'AllReady');
    await untilReason({ size: 3, auto: true }, 'AllReady');
    assert.equal(await replicas(), 3);
    await untilReason({ size: 4 }, 'AllReady');
    assert.equal(await replicas(), 4);
    await untilReason({ size: 4, auto: true }, 'AllReady');
    // A server lets no manager own what it scales when no manager owned it before.
    await client.patch(`${path}/scale`, { spec: { replicas: 6 } });
    await untilReason({ size: 5 }, 'AllReady');
    assert.equal(await replicas(), 5);
    await untilReason({ size: 5, auto: true }, 'AllReady');
    const metadata = { name: 'one', namespace };
    const scaled = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 6 } };
    await client.apply(scaled as KubeObject, { fieldManager: 'scaler' });
    const conflict = await untilReason({ size: 4 }, 'Conflict');
    assert.match(conditionOf(conflict)?.message ?? '', /spec\.replicas.*"scaler"/);
    assert.equal(await replicas(), 6);
  });

  test('the replicas that leave a patch keep their value', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/one`;
    await client.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'one', namespace },
      spec: {
        selector: { matchLabels: { app: 'one' } },
        template: {
          metadata: { labels: { app: 'one' } },
          spec: { containers: [{ name: 'web', image: 'web' }] },
        },
      },
    } as KubeObject);
    const until = (seconds: number) =>
      client.untilObject<Workload>(path, (each) => each?.spec.minReadySeconds === seconds);
    await client.apply(thing('patched', namespace, { size: 3, seconds: 1 }));
    assert.equal((await until(1))?.spec.replicas, 3);
    await client.apply(thing('patched', namespace, { seconds: 2 }));
    assert.equal((await until(2))?.spec.replicas, 3);
  });
});
