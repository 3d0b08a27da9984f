import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { ConverterService } from '../support/conversion/converter-service.ts';
import {
  byReplicas,
  bySize,
  isServed,
  newer,
  old,
  served,
  stepDefinition,
  stored,
  storedVersions,
} from '../support/conversion/step-kind.ts';
import { StepLoad } from '../support/conversion/step-load.ts';
import { testTimes, WebhookRig } from '../support/conversion/webhook-rig.ts';
import { createRuntimeNamespace } from '../support/homeostat.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { shiftedClock } from '../support/shifted-clock.ts';

const shared = useControlPlane();
const minuteMs = 60_000;
const skewMs = 10 * minuteMs;

/** The clocks of two servers, by how much they are ahead of that of the API server. */
const clocks = [
  ['the first one is ahead', [skewMs, -skewMs]],
  ['the first one is behind', [-skewMs, skewMs]],
] as const;

shared.describe('integration/conversion-clocks', () => {
  const cluster = useKubeCluster(shared);
  const service = new ConverterService(shared);

  async function withRig(use: (rig: WebhookRig) => Promise<void>): Promise<void> {
    const rig = await WebhookRig.start(shared, cluster);
    try {
      await use(rig);
    } finally {
      await rig.stop();
    }
  }

  test('two servers whose clocks are 10 minutes ahead and behind start at once, and no request fails', async () => {
    await withRig(async (rig) => {
      await Promise.all([
        rig.addReplica({ aheadMs: skewMs }),
        rig.addReplica({ aheadMs: -skewMs }),
      ]);
      await rig.install();
      const load = await rig.load();
      await load.more(40);
      assert.deepEqual(await load.stop(), []);
      for (const { service } of rig.replicas) assert.equal(service.state.problem, undefined);
    });
  });

  for (const [which, [first, second]] of clocks) {
    test(`a leaf is renewed by servers with such clocks, and no request fails: ${which}`, async () => {
      await withRig(async (rig) => {
        // The server that is ahead sees a leaf of the other one at two thirds of its life at once, and its own one after 6 seconds.
        const times = { ...testTimes, leafLifeMs: 3 * skewMs };
        const own = first > 0 ? { ...times, leafLifeMs: 9_000 } : times;
        await rig.addReplica({ times: own, aheadMs: first });
        await rig.install();
        const seen = new Set<string | undefined>();
        await rig.kind.untilSecret((data) => seen.add(data['tls.crt']).size === 1);
        const load = await rig.load();
        await rig.addReplica({ times, aheadMs: second });
        await rig.kind.untilSecret((data) => seen.add(data['tls.crt']).size === 2);
        await load.more(60);
        assert.deepEqual(await load.stop(), []);
      });
    });

    test(`the authority is replaced by servers with such clocks, and no request fails: ${which}`, async () => {
      await withRig(async (rig) => {
        const leafLifeMs = 3 * skewMs;
        const old = { ...testTimes, leafLifeMs, authorityLifeMs: 60 * minuteMs };
        await rig.addReplica({ times: old, aheadMs: first });
        await rig.install();
        const load = await rig.load();
        const before = await rig.kind.bundle();
        // By its own times, this one sees less than a fifth of the life left.
        const times = { ...testTimes, leafLifeMs, authorityLifeMs: 6_000 * minuteMs };
        await rig.addReplica({ times, aheadMs: second });
        await rig.kind.untilSecret((data) => data['next-ca.crt'] !== undefined);
        await load.more(20);
        await rig.kind.untilSecret(
          (data) =>
            data['next-ca.crt'] === undefined &&
            atob(data['ca-bundle.crt'] ?? '').split('BEGIN CERTIFICATE').length === 2,
        );
        await load.more(60);
        assert.deepEqual(await load.stop(), []);
        assert.notEqual(await rig.kind.bundle(), before);
      });
    });
  }

  for (const aheadMs of [skewMs, -skewMs])
    test(`a version is added and stored by a runtime whose clock is ${aheadMs / minuteMs} minutes ahead, and no request fails`, async () => {
      const name = aheadMs > 0 ? 'ahead' : 'behind';
      await createRuntimeNamespace(shared);
      const namespace = await shared.namespace();
      const client = shared.client();
      const definition = (versions: Parameters<typeof stepDefinition>[0]['versions']) =>
        stepDefinition({ name, versions, value: versions.v1 === stored ? byReplicas : bySize });
      const load = new StepLoad({
        ...{ client, kind: 'Dial', namespace, names: ['a'] },
        objects: (version) => `/apis/${name}.example.com/${version}/namespaces/${namespace}/dials`,
      });
      const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dials.${name}.example.com`;
      let runtime: HomeostatProcess | undefined;
      try {
        await service.start([shiftedClock(skewMs), shiftedClock(-skewMs)]);
        runtime = new HomeostatProcess({
          kubeconfig: shared.plane.kubeconfigPath('operator'),
          definitions: { 'dial.yaml': definition({ v1alpha1: stored, v1: served }) },
          flags: ['--webhook-service', service.address, '--webhook-trial', '2s'],
          env: shiftedClock(aheadMs),
          runtime: name,
        });
        await runtime.whenReady();
        await client.untilObject(crd, (found) => isServed(found, 'v1'));
        load.start(old);
        await load.more('v1alpha1');
        load.start(newer);
        runtime.write('dial.yaml', definition({ v1alpha1: served, v1: stored }));
        await client.untilObject(crd, (found) => storedVersions(found)?.join() === 'v1');
        await load.more('v1alpha1', 'v1');
      } finally {
        await load.stop();
        await runtime?.stop();
        await service.stop();
      }
      assert.deepEqual(load.failures, []);
    });
});
