import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { shippedText } from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes, webhookFlags } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);

const group = 'web.example.com';
const policy =
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/web-app.homeostat.dev';
const isLarge = /More than 20 replicas need the label \\?"web\.example\.com\/large/;
const isKept = /Remove the annotation \\?"web\.example\.com\/keep/;
const shipped = shippedText('web-app.yaml');
const withoutRules = shipped.replace(/^ {2}admission:\n(?: {4}.*\n)+/m, '');

type Version = 'v1' | 'v1alpha1';
const pathOf = (version: Version, namespace: string, name: string) =>
  `/apis/${group}/${version}/namespaces/${namespace}/webapps/${name}`;
const manifest = (version: Version, namespace: string, name: string, spec: object): KubeObject => ({
  apiVersion: `${group}/${version}`,
  kind: 'WebApp',
  metadata: { name, namespace },
  spec,
});

/** Defaults of the schema. */
const usual = { image: 'nginx:1.29', port: 8080, replicas: 1 };

shared.describe('integration/web-app-versions', () => {
  let runtime: HomeostatRuntime;

  before(async () => {
    await createRuntimeNamespace(shared);
    const definitions = { 'web-app.yaml': withoutRules };
    runtime = launch({ definitions, flags: await webhookFlags() });
    await runtime.whenReady();
    const any = await shared.namespace();
    const served = `/apis/${group}/v1alpha1/namespaces/${any}/webapps`;
    await shared.client().untilList(served, () => true);
  });

  test('an object that is older than a rule can be edited elsewhere and deleted; later ones follow the rules', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const old = pathOf('v1', namespace, 'old');
    const finalizer = 'example.com/hold';
    const large = manifest('v1', namespace, 'old', { replicas: 25 });
    await client.apply({ ...large, metadata: { ...large.metadata, finalizers: [finalizer] } });
    assert.notEqual(withoutRules, shipped);
    runtime.write('web-app.yaml', shipped);
    await client.untilObject(policy, (object) => object !== undefined);
    // The API server takes a new rule some time later.
    const denied = { method: 'PATCH', path: old, body: { spec: { replicas: 26 } } };
    const tried = { ...denied, contentType: 'application/merge-patch+json' };
    for (
      let status = 200;
      status !== 422;
      { status } = await client.request({ ...tried, path: `${old}?dryRun=All` })
    )
      await client.sleep(100);
    await assert.rejects(client.must(tried), isLarge);
    await client.patch(old, { metadata: { annotations: { note: 'still here' } } });
    await client.delete(old);
    await client.patch(old, { metadata: { finalizers: null } });
    await client.untilGone(old);
  });

  test('clients of both versions edit one site, and no field is lost', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const [v1, v1alpha1] = (['v1', 'v1alpha1'] as const).map((version) =>
      pathOf(version, namespace, 'site'),
    ) as [string, string];
    const written = {
      title: 'Shop',
      host: 'shop.example.com',
      cache: '10m',
      pull: 'missing',
      pullSecrets: ['registry'],
      autoscaling: { min: 2, max: 4 },
    };
    await client.create(
      v1alpha1.replace(/\/site$/, ''),
      manifest('v1alpha1', namespace, 'site', written),
    );
    assert.deepEqual((await client.get(v1))?.spec, {
      ...usual,
      title: 'Shop',
      ingress: { host: 'shop.example.com' },
      cacheSeconds: 600,
      imagePullPolicy: 'IfNotPresent',
      imagePullSecrets: [{ name: 'registry' }],
      autoscaling: { minReplicas: 2, maxReplicas: 4, cpuPercent: 80 },
    });

    // `className` has no field in v1alpha1.
    await client.patch(v1, {
      spec: {
        ingress: { className: 'internal' },
        cacheSeconds: 90,
        imagePullSecrets: [{ name: 'registry' }, { name: 'mirror' }],
      },
    });
    assert.deepEqual((await client.get(v1alpha1))?.spec, {
      ...usual,
      ...written,
      cache: '1m30s',
      pullSecrets: ['registry', 'mirror'],
      autoscaling: { min: 2, max: 4, cpu: 80 },
    });

    // As an older client does it: it reads, changes and writes the whole; again, if the runtime wrote the status meanwhile.
    for (let status = 409; status === 409; ) {
      const read = await client.get(v1alpha1);
      const body = { ...read, spec: { ...(read?.spec as object), title: 'News', pull: 'always' } };
      ({ status } = await client.request({ method: 'PUT', path: v1alpha1, body }));
      assert.ok(status === 200 || status === 409, String(status));
    }
    // As kubectl apply does it.
    await client.apply(
      manifest('v1alpha1', namespace, 'site', {
        host: 'news.example.com',
        autoscaling: { max: 5 },
      }),
    );
    const expected = {
      ...usual,
      title: 'News',
      cacheSeconds: 90,
      imagePullPolicy: 'Always',
      imagePullSecrets: [{ name: 'registry' }, { name: 'mirror' }],
      autoscaling: { minReplicas: 2, maxReplicas: 5, cpuPercent: 80 },
    };
    assert.deepEqual((await client.get(v1))?.spec, {
      ...expected,
      ingress: { host: 'news.example.com', className: 'internal' },
    });
    const ingress = `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses/site`;
    await client.untilObject(ingress, (object) => {
      const spec = object?.spec as { readonly ingressClassName?: string } | undefined;
      return spec?.ingressClassName === 'internal' && JSON.stringify(spec).includes('news.example');
    });

    // What belongs to a field that is removed in the other version is removed, too.
    await client.patch(v1alpha1, { spec: { host: null } });
    assert.deepEqual((await client.get(v1))?.spec, expected);
    await client.untilGone(ingress);
  });

  for (const [version, autoscaling] of [
    ['v1', { maxReplicas: 21 }],
    ['v1alpha1', { max: 21 }],
  ] as const)
    test(`rules hold for clients of ${version}`, async () => {
      const client = shared.client();
      const namespace = await shared.namespace();
      const path = pathOf(version, namespace, 'site');
      const apply = (spec: object, labels?: Readonly<Record<string, string>>) => {
        const site = manifest(version, namespace, 'site', spec);
        return client.apply({ ...site, metadata: { ...site.metadata, ...(labels && { labels }) } });
      };
      await assert.rejects(apply({ replicas: 21 }), isLarge);
      await assert.rejects(apply({ autoscaling }), isLarge);
      await apply({ replicas: 21, autoscaling }, { [`${group}/large`]: '' });
      // The label cannot be taken away while the site is large.
      await assert.rejects(apply({ replicas: 21, autoscaling }), isLarge);
      // An apply that empties the labels: the API server shows them to rules as null.
      await apply({ replicas: 20 }, {});
      await client.patch(path, { metadata: { annotations: { [`${group}/keep`]: 'true' } } });
      await assert.rejects(client.delete(path), isKept);
      await client.patch(path, { metadata: { annotations: { [`${group}/keep`]: null } } });
      await client.delete(path);
      await client.untilGone(path);
    });

  test('without a webhook the definition is rejected, others run, and its resources are kept', async () => {
    await runtime.stop();
    const definitions = { 'web-app.yaml': shipped, 'podset.yaml': shippedText('podset.yaml') };
    const other = launch({ definitions });
    await other.whenReady(2);
    const rejected = await other.whenLogged('Definition rejected');
    assert.match(JSON.stringify(rejected), /web-app.*needs a conversion webhook.*--webhook-url/);
    const running = await other.whenLogged('Definition running');
    assert.equal(running.definition, 'podset');
  });
});
