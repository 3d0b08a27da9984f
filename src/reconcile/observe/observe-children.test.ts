import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { ownerUidLabel } from '../names.ts';

const key = 'default/a';

async function worldOf(body: string): Promise<OperatorWorld> {
  const world = new OperatorWorld(planOfPodSet(body));
  await world.start();
  return world;
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

function passwordOf(world: OperatorWorld): string {
  const secret = world.get('v1', 'Secret', 'a');
  const { password } = (secret?.data ?? {}) as { password?: string };
  assert.equal(typeof password, 'string');
  return String(password);
}

async function withSecret(): Promise<{
  world: OperatorWorld;
  resource: KubeObject;
  first: string;
}> {
  const world = await worldOf(withPassword);
  const resource = world.podSet('a', { size: 1 });
  await world.settle();
  world.cluster.takeWrites();
  return { world, resource, first: passwordOf(world) };
}

describe('reconcile/pass observed', () => {
  test('a password is made once, used everywhere, and kept when the intent changes', async () => {
    const { world, resource, first } = await withSecret();
    assert.equal(Buffer.from(first, 'base64').length, 20);
    world.edit(resource, { spec: { size: 2 } });
    await world.settle();
    assert.equal(passwordOf(world), first);
    assert.equal(world.get('v1', 'Secret', 'a')?.metadata.labels?.size, '2');
    assert.deepEqual(world.get('v1', 'ConfigMap', 'a')?.data, { digest: first });
    assert.deepEqual(world.cluster.takeWrites(), ['apply Secret/a', 'status PodSet/a']);
  });

  test('a new resource with it costs one request for each child and one for the status', async () => {
    const world = await worldOf(withPassword);
    world.podSet('a', { size: 1 });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply Secret/a',
      'apply ConfigMap/a',
      'status PodSet/a',
    ]);
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
  });

  test('a password outlives the label that led to it', async () => {
    const { world, first } = await withSecret();
    const { metadata, ...rest } = world.get('v1', 'Secret', 'a') as KubeObject;
    world.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
    await world.settle();
    assert.equal(passwordOf(world), first);
    assert.ok(world.get('v1', 'Secret', 'a')?.metadata.labels?.[ownerUidLabel]);
    assert.deepEqual(world.get('v1', 'ConfigMap', 'a')?.data, { digest: first });
    // Nothing else was made of what it seemed to be for a moment.
    assert.deepEqual(world.cluster.takeWrites(), ['apply Secret/a', 'apply Secret/a']);
  });

  test('a password outlives the label that names another owner', async () => {
    const { world, first } = await withSecret();
    const { metadata, ...rest } = world.get('v1', 'Secret', 'a') as KubeObject;
    const labels = { ...metadata.labels, [ownerUidLabel]: 'somebody-else' };
    world.cluster.server.put({ ...rest, metadata: { ...metadata, labels } } as KubeObject);
    await world.settle();
    assert.equal(passwordOf(world), first);
    assert.deepEqual(world.cluster.takeWrites(), ['apply Secret/a']);
  });

  test('a password outlives an informer that has not synced', async () => {
    const { world, first } = await withSecret();
    const { KubeError } = await import('../../kube/roles.ts');
    world.cluster.block('Secret', new KubeError('unavailable', 'Unavailable', { status: 503 }));
    await world.restart(planOfPodSet(withPassword));
    await world.settle();
    assert.equal(passwordOf(world), first);
    assert.deepEqual(world.get('v1', 'ConfigMap', 'a')?.data, { digest: first });
    const children = world.status('a').children as { id: string; message: string }[];
    assert.equal(
      children.find(({ id }) => id === 'app')?.message,
      'Waiting for the list of Secret objects',
    );
    world.cluster.unblock('Secret');
    await world.settle();
    assert.match(world.ready('a'), /^True/);
    assert.equal(passwordOf(world), first);
  });

  test('a Secret that comes back from a backup keeps its password', async () => {
    const { world, first } = await withSecret();
    const backup = world.get('v1', 'Secret', 'a') as KubeObject;
    world.remove(backup);
    world.cluster.server.put(backup);
    await world.settle();
    assert.equal(passwordOf(world), first);
  });

  test('what others scale is left to them, and taken back when that is switched off', async () => {
    const world = await worldOf(`
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
    const resource = world.podSet('a', { auto: true, size: 2, image: 'one' });
    await world.settle();
    const replicas = () =>
      (world.get('apps/v1', 'Deployment', 'web')?.spec as { replicas: number } | undefined)
        ?.replicas;
    assert.equal(replicas(), 1);
    const scale = (to: number) => {
      const web = world.get('apps/v1', 'Deployment', 'web') as KubeObject;
      world.edit(web, { spec: { ...(web.spec as object), replicas: to } });
    };
    scale(5);
    await world.settle();
    world.cluster.takeWrites();
    // The cache does not know of the next one when the pass begins.
    scale(6);
    world.edit(resource, { spec: { auto: true, size: 2, image: 'two' } });
    await world.runOne(key);
    await world.settle();
    assert.equal(replicas(), 6);
    world.edit(resource, { spec: { auto: false, size: 2, image: 'two' } });
    await world.settle();
    assert.equal(replicas(), 2);
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('is no cycle, and a value that another child gets by our own write arrives in a pass that follows', async () => {
    const world = await worldOf(`
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
    world.podSet('a');
    await world.settle();
    const [one, two] = ['one', 'two'].map((name) => world.get('v1', 'ConfigMap', name));
    assert.deepEqual(
      [one?.data, two?.data],
      [{ two: two?.metadata.uid }, { one: one?.metadata.uid }],
    );
    assert.match(world.ready('a'), /^True/);
  });

  test('a list is sorted by name, empty when there is none, and has what is being deleted', async () => {
    const world = await worldOf(`
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
    const resource = world.podSet('a', { items: [] });
    await world.settle();
    const index = () => world.get('v1', 'ConfigMap', 'index')?.data;
    assert.deepEqual(index(), { count: '0' });
    world.edit(resource, { spec: { items: ['c', 'a', 'b'] } });
    await world.settle();
    assert.deepEqual(index(), { names: 'a b c', count: '3' });
    world.edit(resource, { spec: { items: ['c'] } });
    await world.settle();
    assert.deepEqual(index(), { names: 'a b c', count: '3' });
    const a = world.get('v1', 'ConfigMap', 'a') as KubeObject;
    world.edit(a, { metadata: { ...a.metadata, finalizers: [] } });
    await world.settle();
    assert.deepEqual(index(), { names: 'b c', count: '2' });
  });

  test('what makes itself change for ever is slowed down', async () => {
    const world = await worldOf(`
  children:
    - id: count
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: count }
        data: { n: "\${ $string($number(observed.count.data.n ?? '0') + 1) }" }`);
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 1_000,
      reason: 'Unstable',
    });
    await world.clock.advance(1_000);
    await world.runOne(key);
    assert.match(world.ready('a'), /Unstable: Every reconcile changes observed\.count\.data\.n,/);
  });
});
