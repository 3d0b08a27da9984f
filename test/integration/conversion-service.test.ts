import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { x509Issuer } from '#conversion-webhook/certificates/take-step.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { sendBody, sendReview } from '../support/conversion/send-review.ts';
import { WebhookRig } from '../support/conversion/webhook-rig.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';

const shared = useControlPlane();

shared.describe('integration/conversion-service', () => {
  const cluster = useKubeCluster(shared);

  async function withRig(use: (rig: WebhookRig) => Promise<void>): Promise<void> {
    const rig = await WebhookRig.start(shared, cluster);
    try {
      await use(rig);
    } finally {
      await rig.stop();
    }
  }

  test('objects are created, read, listed, watched and applied in both versions', async () => {
    await withRig(async (rig) => {
      const { kind } = rig;
      const client = shared.client();
      await rig.addReplica();
      await rig.install();
      await client.create(kind.objects('v1alpha1'), kind.dial('v1alpha1', 'a', { size: 1 }));
      await client.create(kind.objects('v1'), kind.dial('v1', 'b', { replicas: 2 }));
      for (const [version, field] of [
        ['v1alpha1', 'size'],
        ['v1', 'replicas'],
      ] as const) {
        const specs = (await client.list(kind.objects(version))).map(({ spec }) => spec);
        assert.deepEqual(specs, [{ [field]: 1 }, { [field]: 2 }]);
        const one = await client.get(kind.objects(version, 'a'));
        assert.deepEqual(one?.spec, { [field]: 1 });
      }
      const seen = client.untilObject(
        kind.objects('v1alpha1', 'b'),
        (object) => (object?.spec as { size?: number })?.size === 3,
      );
      await client.apply(kind.dial('v1', 'b', { replicas: 3 }), { fieldManager: 'new' });
      await seen;
      await client.apply(kind.dial('v1alpha1', 'b', { size: 4 }), { fieldManager: 'old' });
      const applied = await client.get(kind.objects('v1', 'b'));
      assert.deepEqual(applied?.spec, { replicas: 4 });
      await client.patch(`${kind.objects('v1alpha1', 'b')}/status`, { status: { text: 'x' } });
      const stored = await client.get<KubeObject>(kind.objects('v1', 'b'));
      assert.deepEqual(stored?.status, { text: 'x' });
    });
  });

  test('the API server shows what is wrong with rules, objects and bodies', async () => {
    await withRig(async (rig) => {
      const { kind } = rig;
      const client = shared.client();
      const replica = await rig.addReplica();
      await rig.install();
      await client.create(kind.objects('v1'), kind.dial('v1', 'a', { replicas: 2 }));
      const { port = 0 } = replica.service.state;
      const failed = await sendReview(port, '/convert/none.example.com/ab', reviewed);
      assert.match(JSON.stringify(failed), /There is no CustomResourceDefinition \\"none/);
      const body = await sendBody(port, `/convert/${kind.name}/ab`, '{');
      assert.match(JSON.stringify(body), /"kind":"Status".*Expected a ConversionReview as JSON/);
      await client.apply(kind.crd(await kind.bundle(), 'abcdef'));
      const message = /has no conversion rules with the digest \\+"abcdef\\+"/;
      while (!message.test(await errorOf(kind.objects('v1alpha1', 'a')))) await client.sleep(50);
      await client.apply(kind.crd(await kind.bundle()));
      await client.untilObject(kind.objects('v1alpha1', 'a'), (found) => found !== undefined);
    });
  });

  test('an expired certificate of another program is shown, and replaced without a restart', async () => {
    await withRig(async (rig) => {
      const { kind } = rig;
      const client = shared.client();
      const directory = mkdtempSync(join(tmpdir(), 'homeostat-certificates-'));
      const nowMs = Date.now();
      const lifetime = { fromMs: nowMs - 3_600_000, untilMs: nowMs + 3_600_000 };
      const authority = await x509Issuer.issueAuthority(lifetime);
      const write = async (untilMs: number) => {
        const leaf = await x509Issuer.issueLeaf(authority, ['127.0.0.1'], { ...lifetime, untilMs });
        writeFileSync(join(directory, 'tls.key'), leaf.key);
        writeFileSync(join(directory, 'tls.crt'), leaf.certificate);
      };
      try {
        await write(nowMs - 1_000);
        await rig.addReplica({ directory });
        await client.apply(kind.crd(authority.certificate));
        await client.untilObject(kind.path, (crd) => JSON.stringify(crd?.status).includes('True'));
        const path = kind.objects('v1');
        const create = { method: 'POST', path, body: kind.dial('v1', 'a', { replicas: 1 }) };
        while ((await client.request(create)).status !== 201) await client.sleep(50);
        const old = kind.objects('v1alpha1', 'a');
        while (!/certificate has expired/.test(await errorOf(old))) await client.sleep(50);
        await write(lifetime.untilMs);
        await client.untilObject(old, (found) => found !== undefined);
      } finally {
        rmSync(directory, { recursive: true });
      }
    });
  });

  async function errorOf(path: string): Promise<string> {
    return JSON.stringify((await shared.client().request({ method: 'GET', path })).body);
  }
});

const reviewed = { uid: 'u', desiredAPIVersion: 'example.com/v1', objects: [] };
