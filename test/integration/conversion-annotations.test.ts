import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { shippedText } from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes, webhookFlags } from '../support/homeostat.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);

const group = 'web.example.com';
const versions = ['v1', 'v1alpha1'] as const;
type Version = (typeof versions)[number];
/** What the API server accepts of an object, keys included, in bytes. */
const largest = 256 * 1024;
const key = 'example.com/notes';
const notes = (bytes: number) => ({ [key]: 'x'.repeat(bytes - key.length) });

const collection = (version: Version, namespace: string) =>
  `/apis/${group}/${version}/namespaces/${namespace}/webapps`;
const specOf = (object: KubeObject | undefined) =>
  object?.spec as Readonly<Record<string, unknown>>;

shared.describe('integration/conversion-annotations', () => {
  before(async () => {
    await createRuntimeNamespace(shared);
    const text = shippedText('web-app.yaml').replace(/^ {2}admission:\n(?: {4}.*\n)+/m, '');
    const definitions = { 'web-app.yaml': text };
    const runtime = launch({ definitions, flags: await webhookFlags() });
    await runtime.whenReady();
    await shared.client().untilList(collection('v1alpha1', await shared.namespace()), () => true);
  });

  const stage = async (name: string) => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const manifest = (version: Version, annotations: object, spec: object) => ({
      ...{ apiVersion: `${group}/${version}`, kind: 'WebApp', spec },
      metadata: { name, namespace, annotations: annotations as Record<string, string> },
    });
    const [v1, v1alpha1] = versions.map(
      (version) => `${collection(version, namespace)}/${name}`,
    ) as [string, string];
    return { client, namespace, manifest, v1, v1alpha1 };
  };

  test('with 250 KiB of annotations, preserved values pass through both versions and through apply', async () => {
    const { client, manifest, v1, v1alpha1 } = await stage('many');
    const annotations = notes(250 * 1024);
    const ingress = { host: 'a.example.com', className: 'internal' };
    await client.apply(manifest('v1', annotations, { ingress }));
    // "soon" is no time: it is kept as it is.
    await client.apply(
      manifest('v1alpha1', annotations, { host: 'b.example.com', cache: 'soon' }),
      {
        fieldManager: 'old',
      },
    );
    const stored = await client.get(v1);
    assert.deepEqual(specOf(stored).ingress, { host: 'b.example.com', className: 'internal' });
    assert.equal(specOf(stored).cacheSeconds, undefined);
    await client.patch(v1, { spec: { title: 'News' } });
    await client.patch(v1alpha1, { spec: { image: 'httpd' } });
    const read = await client.get(v1alpha1);
    assert.deepEqual(
      [specOf(read).host, specOf(read).cache, specOf(read).title, specOf(read).image],
      ['b.example.com', 'soon', 'News', 'httpd'],
    );
    assert.equal(read?.metadata.annotations?.[key]?.length, 250 * 1024 - key.length);
    assert.deepEqual(specOf(await client.get(v1)).ingress, {
      ...{ host: 'b.example.com', className: 'internal' },
    });
  });

  test('without space for preserved values reads succeed, writes that would lose them are rejected, and nothing is lost', async () => {
    const { client, namespace, manifest, v1, v1alpha1 } = await stage('full');
    const ingress = { host: 'a.example.com', className: 'internal' };
    await client.apply(manifest('v1', notes(largest), { ingress }));
    const read = await client.get(v1alpha1);
    assert.equal(specOf(read).host, 'a.example.com');
    assert.equal((await client.list(collection('v1alpha1', namespace))).length, 1);
    const missing = /Fields of another version are missing in this object/;
    await assert.rejects(client.patch(v1alpha1, { spec: { title: 'News' } }), missing);
    const own = { host: 'b.example.com' };
    const old = { fieldManager: 'old' };
    await assert.rejects(client.apply(manifest('v1alpha1', notes(largest), own), old), missing);
    assert.deepEqual(specOf(await client.get(v1)).ingress, ingress);

    // Its own version can be written, and with space the other one, too.
    await client.patch(v1, { spec: { title: 'Notes' } });
    await client.patch(v1, { metadata: { annotations: { [key]: null } } });
    // The API server may still have the full object in its cache of the other version.
    const edit = { method: 'PATCH', path: v1alpha1, body: { spec: own } };
    const patched = { ...edit, contentType: 'application/merge-patch+json' };
    for (let status = 500; status === 500; ) {
      ({ status } = await client.request(patched));
      assert.ok(status === 200 || status === 500, String(status));
      if (status === 500) await client.sleep(50);
    }
    assert.deepEqual(specOf(await client.get(v1)).ingress, { ...ingress, ...own });
    assert.equal(specOf(await client.get(v1)).title, 'Notes');
  });

  test('an object whose values do not fit is deleted in the version that has them', async () => {
    const { client, manifest, v1 } = await stage('gone');
    const ingress = { host: 'a.example.com', className: 'internal' };
    await client.apply(manifest('v1', notes(largest), { ingress }));
    await client.delete(v1);
    await client.untilGone(v1);
  });

  test('a write in the other version is rejected if its values do not fit', async () => {
    const { client, manifest, v1 } = await stage('odd');
    await assert.rejects(
      client.apply(manifest('v1alpha1', notes(largest), { cache: 'soon' })),
      /cannot express all fields/,
    );
    assert.equal(await client.get(v1), undefined);
  });
});
