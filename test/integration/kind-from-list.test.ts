import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const startHomeostat = useHomeostat(shared);

/** A workload and a store, whose kinds are of the resource. */
const chosen = `  children:
    - id: store
      kinds: [v1/ConfigMap, v1/Secret]
      template:
        apiVersion: v1
        kind: '\${ spec.secret = true ? "Secret" : "ConfigMap" }'
        metadata: { name: "\${ metadata.name }" }
        data: { a: "\${ spec.secret = true ? 'YQ==' : 'a' }" }
    - id: web
      after: [store]
      ready: true
      kinds: [apps/v1/Deployment, apps/v1/StatefulSet]
      template:
        apiVersion: apps/v1
        kind: \${ spec.kind }
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: 1
          serviceName: "\${? spec.kind = 'StatefulSet' ? metadata.name }"
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" } }
            spec: { containers: [{ name: web, image: web }] }
  status:
    uid: \${ children.web.metadata.uid }
    seen: \${ observed.web.kind }
`;
const kinds = ['deployments', 'statefulsets'] as const;

shared.describe('integration/kind-from-list', () => {
  let homeostat: Awaited<ReturnType<typeof startHomeostat>>;
  before(async () => {
    homeostat = await startHomeostat({ 'chosen.yaml': thingDefinition('chosen', chosen) });
  });

  async function settled(
    namespace: string,
    spec: object,
    reason = 'AllReady',
  ): Promise<
    | (KubeObject & { readonly status?: { readonly uid?: string; readonly seen?: string } })
    | undefined
  > {
    const applied = await shared.client().apply(thing('chosen', namespace, spec));
    return shared
      .client()
      .untilObject(
        thingPath('chosen', namespace),
        (object) =>
          conditionOf(object)?.reason === reason &&
          statusOf(object).observedGeneration === applied.metadata.generation,
      );
  }

  /** The plurals of the workloads that exist. */
  async function workloads(namespace: string): Promise<readonly string[]> {
    const found = await Promise.all(
      kinds.map((plural) =>
        shared.client().get<KubeObject>(`/apis/apps/v1/namespaces/${namespace}/${plural}/one`),
      ),
    );
    return kinds.filter((_, index) => found[index] !== undefined);
  }

  test('an object has the kind that the expression returns, and another kind replaces it', async () => {
    const namespace = await shared.namespace();
    const first = await settled(namespace, { kind: 'Deployment' });
    assert.deepEqual(await workloads(namespace), ['deployments']);
    const since = shared.audit.mark();
    const second = await settled(namespace, { kind: 'StatefulSet' });
    assert.deepEqual(await workloads(namespace), ['statefulsets']);
    assert.notEqual(second?.status?.uid, first?.status?.uid);
    assert.equal(second?.status?.seen, 'StatefulSet');
    const writes = shared.audit
      .entries({ since })
      .filter(
        (entry) => entry.namespace === namespace && kinds.some((kind) => kind === entry.resource),
      )
      .filter(({ verb }) => verb === 'patch' || verb === 'delete')
      .map(({ verb, resource }) => `${verb} ${resource}`);
    assert.deepEqual(writes, ['patch statefulsets', 'delete deployments']);
    await settled(namespace, { kind: 'StatefulSet', secret: true });
    assert.ok(await shared.client().get(`/api/v1/namespaces/${namespace}/secrets/one`));
    assert.equal(
      await shared.client().get(`/api/v1/namespaces/${namespace}/configmaps/one`),
      undefined,
    );
  });

  test('a kind that is not in the list is an error of the child, and keeps what is there', async () => {
    const namespace = await shared.namespace();
    await settled(namespace, { kind: 'StatefulSet' });
    const failed = await settled(namespace, { kind: 'DaemonSet' }, 'RenderFailed');
    assert.match(
      conditionOf(failed)?.message ?? '',
      /Expected one of "apps\/v1\/Deployment", "apps\/v1\/StatefulSet" at kind, found "apps\/v1\/DaemonSet"/,
    );
    assert.deepEqual(await workloads(namespace), ['statefulsets']);
    await settled(namespace, { kind: 'Deployment' });
    assert.deepEqual(await workloads(namespace), ['deployments']);
  });

  test('a kind that is changed while no process runs is replaced, and all is deleted with the resource', async () => {
    const namespace = await shared.namespace();
    await settled(namespace, { kind: 'Deployment' });
    await homeostat.stop();
    await shared.client().apply(thing('chosen', namespace, { kind: 'StatefulSet' }));
    homeostat = await startHomeostat({ 'chosen.yaml': thingDefinition('chosen', chosen) });
    await settled(namespace, { kind: 'StatefulSet' });
    await shared
      .client()
      .untilObject(
        `/apis/apps/v1/namespaces/${namespace}/deployments/one`,
        (object) => object === undefined,
      );
    assert.deepEqual(await workloads(namespace), ['statefulsets']);
  });
});
