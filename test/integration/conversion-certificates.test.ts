import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { testTimes, WebhookRig } from '../support/conversion/webhook-rig.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';

const shared = useControlPlane();

shared.describe('integration/conversion-certificates', () => {
  const cluster = useKubeCluster(shared);

  async function withRig(use: (rig: WebhookRig) => Promise<void>): Promise<void> {
    const rig = await WebhookRig.start(shared, cluster);
    try {
      await use(rig);
    } finally {
      await rig.stop();
    }
  }

  test('two servers that start at once have one certificate', async () => {
    await withRig(async (rig) => {
      await Promise.all([rig.addReplica(), rig.addReplica()]);
      await rig.install();
      const load = await rig.load();
      await load.more(30);
      assert.deepEqual(await load.stop(), []);
    });
  });

  test('a leaf is renewed under load, and what clients trust stays the same', async () => {
    await withRig(async (rig) => {
      const times = { ...testTimes, leafLifeMs: 9_000 };
      await Promise.all([rig.addReplica({ times }), rig.addReplica({ times })]);
      await rig.install();
      const load = await rig.load();
      const seen = new Set<string | undefined>();
      const bundles = new Set<string | undefined>();
      await rig.kind.untilSecret((data) => {
        seen.add(data['tls.crt']);
        bundles.add(data['ca-bundle.crt']);
        return seen.size === 3;
      });
      await load.more(30);
      assert.deepEqual(await load.stop(), []);
      assert.equal(bundles.size, 1);
    });
  });

  test('a Secret that is deleted under load is made anew, and no request fails', async () => {
    await withRig(async (rig) => {
      await Promise.all([rig.addReplica(), rig.addReplica()]);
      await rig.install();
      const load = await rig.load();
      const before = await rig.kind.bundle();
      await rig.kind.deleteSecret();
      await rig.kind.untilSecret((data) => data['next-ca.crt'] !== undefined);
      const kept = before.split('\n')[1] ?? '-';
      assert.ok((await rig.kind.bundle()).includes(kept), 'the old authority is trusted meanwhile');
      await rig.kind.untilSecret((data) => data['next-ca.crt'] === undefined);
      await rig.kind.untilSecret((data) => certificatesIn(data['ca-bundle.crt']) === 1);
      await load.more(60);
      assert.deepEqual(await load.stop(), []);
      assert.notEqual(await rig.kind.bundle(), before);
    });
  });

  test('an authority that ends is replaced under load, and no request fails', async () => {
    await withRig(async (rig) => {
      const old = { ...testTimes, authorityLifeMs: 60_000 };
      await rig.addReplica({ times: old });
      await rig.install();
      const load = await rig.load();
      // By its own times, this one sees less than a fifth of the life left.
      await rig.addReplica({ times: { ...testTimes, authorityLifeMs: 600_000 } });
      await rig.kind.untilSecret((data) => data['next-ca.crt'] !== undefined);
      await rig.kind.untilSecret(
        (data) => data['next-ca.crt'] === undefined && certificatesIn(data['ca-bundle.crt']) === 1,
      );
      rig.route();
      await load.more(60);
      assert.deepEqual(await load.stop(), []);
    });
  });
});

function certificatesIn(base64 = ''): number {
  return atob(base64).split('BEGIN CERTIFICATE').length - 1;
}
