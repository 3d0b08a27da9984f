import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { ownerUidLabel } from '#util/stored-names.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const key = 'default/a';

async function harnessOf(body: string): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  return harness;
}

const secret = `
    - id: secret
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }", labels: { size: "\${ $string(spec.size) }" } }
        data: { password: "\${ vars.password }" }`;
const withPassword = `
  vars: { password: "\${ observed.secret.data.password ?? $base64encode($randomString(20)) }" }
  children:${secret}
    - id: app
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { digest: "\${ vars.password }" }`;

function passwordOf(harness: OperatorHarness): string {
  const secret = harness.get('v1', 'Secret', 'a');
  const { password } = (secret?.data ?? {}) as { password?: string };
  assert.equal(typeof password, 'string');
  return String(password);
}

async function withSecret(): Promise<{
  harness: OperatorHarness;
  resource: KubeObject;
  first: string;
}> {
  const harness = await harnessOf(withPassword);
  const resource = harness.podSet('a', { size: 1 });
  await harness.settle();
  harness.cluster.takeWrites();
  return { harness, resource, first: passwordOf(harness) };
}

describe('reconcile/pass observed', () => {
  test('a password is made once, used everywhere, and kept when the intent changes', async () => {
    const { harness, resource, first } = await withSecret();
    assert.equal(Buffer.from(first, 'base64').length, 20);
    harness.edit(resource, { spec: { size: 2 } });
    await harness.settle();
    assert.equal(passwordOf(harness), first);
    assert.equal(harness.get('v1', 'Secret', 'a')?.metadata.labels?.size, '2');
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'a')?.data, { digest: first });
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Secret/a', 'status PodSet/a']);
  });

  test('a new resource with it costs one request for each child and one for the status', async () => {
    const harness = await harnessOf(withPassword);
    harness.podSet('a', { size: 1 });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), [
      'apply Secret/a',
      'apply ConfigMap/a',
      'status PodSet/a',
    ]);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('a password outlives the label that led to it', async () => {
    const { harness, first } = await withSecret();
    const { metadata, ...rest } = harness.get('v1', 'Secret', 'a') as KubeObject;
    harness.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
    await harness.settle();
    assert.equal(passwordOf(harness), first);
    assert.ok(harness.get('v1', 'Secret', 'a')?.metadata.labels?.[ownerUidLabel]);
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'a')?.data, { digest: first });
    // Nothing else was made of what it seemed to be for a moment.
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Secret/a', 'apply Secret/a']);
  });

  test('a password outlives the label that names another owner', async () => {
    const { harness, first } = await withSecret();
    const { metadata, ...rest } = harness.get('v1', 'Secret', 'a') as KubeObject;
    const labels = { ...metadata.labels, [ownerUidLabel]: 'somebody-else' };
    harness.cluster.server.put({ ...rest, metadata: { ...metadata, labels } } as KubeObject);
    await harness.settle();
    assert.equal(passwordOf(harness), first);
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Secret/a']);
  });

  test('a password outlives an informer that has not synced', async () => {
    const { harness, first } = await withSecret();
    const { KubeError } = await import('#kube/roles.ts');
    harness.cluster.block('Secret', new KubeError('unavailable', 'Unavailable', { status: 503 }));
    await harness.restart(planOfPodSet(withPassword));
    await harness.settle();
    assert.equal(passwordOf(harness), first);
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'a')?.data, { digest: first });
    const children = harness.status('a').children as { id: string; message: string }[];
    assert.equal(
      children.find(({ id }) => id === 'app')?.message,
      'Waiting for the list of Secret objects',
    );
    harness.cluster.unblock('Secret');
    await harness.settle();
    assert.match(harness.ready('a'), /^True/);
    assert.equal(passwordOf(harness), first);
  });

  test('a Secret that comes back from a backup keeps its password', async () => {
    const { harness, first } = await withSecret();
    const backup = harness.get('v1', 'Secret', 'a') as KubeObject;
    harness.remove(backup);
    harness.cluster.server.put(backup);
    await harness.settle();
    assert.equal(passwordOf(harness), first);
  });

  test('what others scale is left to them, and taken back when that is switched off', async () => {
    const harness = await harnessOf(`
  children:
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: web }
        spec:
          replicas: "\${ spec.auto ? observed.web.spec.replicas ?? 1 : spec.size }"
          selector: { matchLabels: { app: web } }
          template:
            metadata: { labels: { app: web } }
            spec: { containers: [{ name: web, image: "\${ spec.image }" }] }`);
    const resource = harness.podSet('a', { auto: true, size: 2, image: 'one' });
    await harness.settle();
    const replicas = () =>
      (harness.get('apps/v1', 'Deployment', 'web')?.spec as { replicas: number } | undefined)
        ?.replicas;
    assert.equal(replicas(), 1);
    const scale = (to: number) => {
      const web = harness.get('apps/v1', 'Deployment', 'web') as KubeObject;
      harness.edit(web, { spec: { ...(web.spec as object), replicas: to } });
    };
    scale(5);
    await harness.settle();
    harness.cluster.takeWrites();
    // The cache does not know of the next one when the pass begins.
    scale(6);
    harness.edit(resource, { spec: { auto: true, size: 2, image: 'two' } });
    await harness.runOne(key);
    await harness.settle();
    assert.equal(replicas(), 6);
    harness.edit(resource, { spec: { auto: false, size: 2, image: 'two' } });
    await harness.settle();
    assert.equal(replicas(), 2);
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('is no cycle, and a value that another child gets by our own write arrives in a pass that follows', async () => {
    const harness = await harnessOf(`
  children:
    - id: one
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: one }
        data: { two: "\${ observed.two.metadata.uid ?? 'none' }" }
    - id: two
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: two }
        data: { one: "\${ observed.one.metadata.uid ?? 'none' }" }`);
    harness.podSet('a');
    await harness.settle();
    const [one, two] = ['one', 'two'].map((name) => harness.get('v1', 'ConfigMap', name));
    assert.deepEqual(
      [one?.data, two?.data],
      [{ two: two?.metadata.uid }, { one: one?.metadata.uid }],
    );
    assert.match(harness.ready('a'), /^True/);
  });

  test('a list is sorted by name, empty when there is none, and has what is being deleted', async () => {
    const harness = await harnessOf(`
  children:
    - id: maps
      forEach: \${ spec.items }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ $item }", finalizers: [example.com/stay] }
    - id: index
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: index }
        data: { names: "\${ $join(observed.maps.metadata.name, ' ') }", count: "\${ $string($count(observed.maps)) }" }`);
    const resource = harness.podSet('a', { items: [] });
    await harness.settle();
    const index = () => harness.get('v1', 'ConfigMap', 'index')?.data;
    assert.deepEqual(index(), { count: '0' });
    harness.edit(resource, { spec: { items: ['c', 'a', 'b'] } });
    await harness.settle();
    assert.deepEqual(index(), { names: 'a b c', count: '3' });
    harness.edit(resource, { spec: { items: ['c'] } });
    await harness.settle();
    assert.deepEqual(index(), { names: 'a b c', count: '3' });
    const a = harness.get('v1', 'ConfigMap', 'a') as KubeObject;
    harness.edit(a, { metadata: { ...a.metadata, finalizers: [] } });
    await harness.settle();
    assert.deepEqual(index(), { names: 'b c', count: '2' });
  });

  test('what makes itself change for ever is slowed down', async () => {
    const harness = await harnessOf(`
  children:
    - id: count
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: count }
        data: { n: "\${ $string($number(observed.count.data.n ?? '0') + 1) }" }`);
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 1_000,
      reason: 'Unstable',
    });
    await harness.clock.advance(1_000);
    await harness.runOne(key);
    assert.match(harness.ready('a'), /Unstable: Every reconcile changes observed\.count\.data\.n,/);
  });
});
