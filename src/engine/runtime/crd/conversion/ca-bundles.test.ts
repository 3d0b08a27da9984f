import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { digestOf, writeRules } from '#conversion';
import { silentLogger } from '#telemetry/roles.ts';
import { decodeBase64, encodeBase64 } from '#util/base64.ts';
import { gvkOf } from '#util/gvk.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { conversionsAnnotation, runtimeLabel } from '#util/stored-names.ts';
import { FakeClock, settle } from '../../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../../test/support/fakes/quiet-cluster.ts';
import { crdGvk } from '../crd-definition.ts';
import { CaBundles } from './ca-bundles.ts';
import { clientConfigOf } from './crd-parts.ts';

const rules = { hub: 'v1', versions: [] };
const name = 'as.example.com';
const configAt = (host: string): JsonObject => ({
  url: `https://${host}/convert/${name}/${digestOf(rules)}`,
});
const labels = { 'homeostat.dev/definition': 'a', [runtimeLabel]: 'mine' };
const annotations = { [conversionsAnnotation]: writeRules(rules) };

function crd(metadata: Partial<ObjectMeta> = {}, clientConfig = configAt('here')): KubeObject {
  const conversion = { strategy: 'Webhook', webhook: { clientConfig } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, labels, annotations, ...metadata },
    spec: { conversion },
  };
}

const secret = (bundle: string | undefined): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'certificates', namespace: 'system' },
  data: { ...(bundle !== undefined && { bundle: encodeBase64(bundle) }) },
});

/** Runs with these objects. Stop it at the end. */
async function begin(...objects: readonly KubeObject[]) {
  const type = { hasStatus: false, verbs: [] };
  const cluster = new QuietCluster([
    { ...type, gvk: crdGvk, plural: 'customresourcedefinitions', namespaced: false },
    { ...type, gvk: gvkOf('v1', 'Secret'), plural: 'secrets', namespaced: true },
  ]);
  for (const object of objects) cluster.server.put(object);
  const stopper = new AbortController();
  const clock = new FakeClock();
  const bundles = new CaBundles({
    ...{ cluster, clock, logger: silentLogger, runtime: 'mine' },
    target: {
      clientConfig: (of, digest) => ({ url: `https://here/convert/${of}/${digest}` }),
    },
    authority: {
      ...{ namespace: 'system', secret: 'certificates' },
      bundleOf: ({ data }) => {
        const text = (data as JsonObject | undefined)?.bundle;
        return typeof text === 'string' ? decodeBase64(text) : undefined;
      },
    },
  });
  const ended = bundles.run(stopper.signal);
  const calm = async () => {
    for (let rounds = 0; rounds < 10; rounds++) {
      cluster.deliver();
      await settle();
    }
  };
  await calm();
  return {
    ...{ cluster, clock, calm },
    bundle: () => {
      const live = cluster.server.get(crdGvk, undefined, name);
      return live && clientConfigOf(live.object)?.caBundle;
    },
    stop: async () => {
      stopper.abort(new Error('The test is over'));
      await ended;
    },
  };
}

describe('runtime/crd/conversion/ca-bundles', () => {
  test('a CRD gets the certificates of the Secret, and new ones', async () => {
    const { cluster, bundle, calm, stop } = await begin(crd(), secret('first'));
    assert.equal(bundle(), encodeBase64('first'));
    assert.equal(cluster.takeWrites().length, 1);
    cluster.server.put(secret('second'));
    await calm();
    assert.equal(bundle(), encodeBase64('second'));
    await stop();
  });

  for (const [what, object] of [
    ['of another runtime', crd({ labels: { ...labels, [runtimeLabel]: 'other' } })],
    ['without a definition', crd({ labels: { [runtimeLabel]: 'mine' } })],
    ['with the webhook of another team', crd({}, { url: 'https://elsewhere/convert' })],
    ['with the webhook of another address', crd({}, configAt('there'))],
    ['without rules', crd({ annotations: {} })],
    ['with rules that cannot be read', crd({ annotations: { [conversionsAnnotation]: '{' } })],
    [
      'with certificates of cert-manager',
      crd({ annotations: { ...annotations, 'cert-manager.io/inject-ca-from': 'a/b' } }),
    ],
  ] as const)
    test(`a CRD ${what} is not written, and no Secret is read`, async () => {
      const { cluster, stop } = await begin(object, secret('first'));
      assert.deepEqual(cluster.takeWrites(), []);
      assert.ok(cluster.watched.every(({ gvk }) => gvk.kind !== 'Secret'));
      await stop();
    });

  test('without usable certificates nothing is written, until there are some', async () => {
    const { cluster, bundle, calm, stop } = await begin(crd(), secret(undefined));
    assert.deepEqual(cluster.takeWrites(), []);
    cluster.server.put(secret('first'));
    await calm();
    assert.equal(bundle(), encodeBase64('first'));
    await stop();
  });

  test('certificates that are the same are not written again', async () => {
    const config = { ...configAt('here'), caBundle: encodeBase64('first') };
    const { cluster, stop } = await begin(crd({}, config), secret('first'));
    assert.deepEqual(cluster.takeWrites(), []);
    await stop();
  });
});
