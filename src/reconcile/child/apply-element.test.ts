import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import {
  deploymentChild,
  podSetPlan,
  secretChild,
} from '../../../test/support/fakes/podset-plan.ts';
import { KubeError } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const key = 'default/a';

async function worldWithPodSet(): Promise<OperatorWorld> {
  const world = new OperatorWorld(podSetPlan());
  await world.start();
  world.podSet('a', { size: 3 });
  await world.settle();
  world.cluster.takeWrites();
  world.passes.length = 0;
  return world;
}

function deployment(world: OperatorWorld): KubeObject {
  const object = world.get('apps/v1', 'Deployment', 'a');
  assert.ok(object, 'Expected the Deployment to exist');
  return object;
}

function foreign(world: OperatorWorld, metadata: Partial<KubeObject['metadata']> = {}): KubeObject {
  return world.cluster.server.put({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec: { replicas: 7 },
  }).object;
}

describe('reconcile/child drift', () => {
  test('a value that a user changed is reverted by one apply that names it', async () => {
    const world = await worldWithPodSet();
    const { spec } = deployment(world);
    world.edit(deployment(world), { spec: { ...(spec as object), replicas: 9 } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal((deployment(world).spec as { replicas: number }).replicas, 3);
    assert.deepEqual(world.decisions.get(key)?.children[0]?.verdict, {
      kind: 'applied',
      fields: ['spec.replicas'],
    });
  });

  test('a foreign edit wakes the resource once', async () => {
    const world = await worldWithPodSet();
    const { spec } = deployment(world);
    world.edit(deployment(world), { spec: { ...(spec as object), replicas: 9 } });
    await world.settle();
    assert.equal(world.passes.length, 1);
  });

  test('a field that a user adds is left alone', async () => {
    const world = await worldWithPodSet();
    const { spec } = deployment(world);
    world.edit(deployment(world), { spec: { ...(spec as object), paused: true } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.equal((deployment(world).spec as { paused: boolean }).paused, true);
  });

  test('labels that a user took off are reverted', async () => {
    const world = await worldWithPodSet();
    const { metadata } = deployment(world);
    world.edit(deployment(world), { metadata: { ...metadata, labels: {} } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a', 'apply Deployment/a']);
    assert.equal(deployment(world).metadata.labels?.['homeostat.dev/child'], 'deployment');
  });

  test('a controller reference that a user took off is reverted', async () => {
    const world = await worldWithPodSet();
    const { ownerReferences: _gone, ...metadata } = deployment(world).metadata;
    world.edit(deployment(world), { metadata });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal(deployment(world).metadata.ownerReferences?.length, 1);
  });

  test('a field that leaves the intent is removed', async () => {
    const world = new OperatorWorld(
      podSetPlan({
        children: [
          {
            ...deploymentChild,
            template: (view, element) => {
              const manifest = deploymentChild.template(view, element);
              if (view.resource.spec.size === 1) return manifest;
              return {
                ...manifest,
                metadata: {
                  ...(manifest.metadata as KubeObject['metadata']),
                  annotations: { big: 'yes' },
                },
              };
            },
          },
        ],
      }),
    );
    await world.start();
    const podSet = world.podSet('a', { size: 3 });
    await world.settle();
    assert.equal(deployment(world).metadata.annotations?.big, 'yes');
    world.edit(podSet, { spec: { size: 1 } });
    await world.settle();
    assert.equal(deployment(world).metadata.annotations?.big, undefined);
  });

  test('a child that was deleted is made again', async () => {
    const world = await worldWithPodSet();
    world.remove(deployment(world));
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal((deployment(world).spec as { replicas: number }).replicas, 3);
  });

  test('a child that is being deleted is made again when it is gone, not before', async () => {
    const world = await worldWithPodSet();
    const { metadata } = deployment(world);
    world.edit(deployment(world), { metadata: { ...metadata, finalizers: ['example.com/hold'] } });
    await world.settle();
    const { uid } = deployment(world).metadata;
    world.remove(deployment(world));
    await world.settle();
    assert.equal(
      world.ready('a'),
      'False Waiting: deployment "a": Deployment "a" is being deleted',
    );
    assert.equal(deployment(world).metadata.uid, uid);
    const leaving = deployment(world).metadata;
    world.edit(deployment(world), { metadata: { ...leaving, finalizers: [] } });
    await world.settle();
    assert.notEqual(deployment(world).metadata.uid, uid);
    assert.equal(deployment(world).metadata.deletionTimestamp, undefined);
  });

  test('what the server makes of an intent is remembered, and drift is still seen', async () => {
    const world = new OperatorWorld(podSetPlan());
    await world.start();
    // A webhook that rewrites the image of every apply.
    const { server } = world.cluster;
    const apply = server.apply.bind(server);
    server.apply = (input) =>
      apply({ ...input, manifest: input.status ? input.manifest : withImage(input.manifest) });
    world.podSet('a', { size: 3 });
    await world.settle();
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    const { spec } = deployment(world);
    world.edit(deployment(world), { spec: { ...(spec as object), replicas: 9 } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
  });
});

function withImage(manifest: KubeObject): KubeObject {
  return JSON.parse(JSON.stringify(manifest).replace('"busybox"', '"mirror/busybox"'));
}

describe('reconcile/child conflicts', () => {
  const foreignObjects = [
    ['without an owner', {}, 'no manager', 'has no owner; set "adopt: IfUnowned", or'],
    [
      'of another manager',
      { labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
      '"Helm"',
      'is owned by "Helm"; set "adopt: IfUnowned", or',
    ],
    [
      'of another controller',
      {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Shop', name: 'corner', uid: 'u', controller: true },
        ],
      },
      'Shop "corner"',
      'is owned by Shop "corner";',
    ],
  ] as const;
  for (const [what, metadata, owner, reason] of foreignObjects) {
    test(`an object ${what} is not touched, and the resource continues when it is gone`, async () => {
      const world = new OperatorWorld(podSetPlan());
      await world.start();
      const stranger = foreign(world, metadata);
      world.podSet('a', { size: 3 });
      await world.settle();
      assert.deepEqual(deployment(world), stranger);
      assert.equal(
        world.ready('a'),
        `False Conflict: deployment "a": Deployment "a" already exists and ${reason} rename the child`,
      );
      assert.deepEqual(world.decisions.get(key)?.children[0]?.verdict, { kind: 'conflict', owner });
      world.remove(stranger);
      await world.settle();
      assert.equal((deployment(world).spec as { replicas: number }).replicas, 3);
      assert.match(world.ready('a'), /Progressing/);
    });
  }

  test('while it is in the way no further request is made', async () => {
    const world = new OperatorWorld(podSetPlan());
    await world.start();
    foreign(world);
    world.podSet('a', { size: 3 });
    await world.settle();
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
  });

  test('an object with labels copied from ours is not ours', async () => {
    const world = new OperatorWorld(podSetPlan());
    await world.start();
    const { uid } = world.podSet('a', { size: 3 }).metadata;
    const stranger = foreign(world, {
      labels: {
        'app.kubernetes.io/managed-by': 'homeostat',
        'homeostat.dev/definition': 'podset',
        'homeostat.dev/child': 'deployment',
        'homeostat.dev/owner-uid': uid!,
      },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Shop', name: 'corner', uid: 'u', controller: true },
      ],
    });
    await world.settle();
    assert.deepEqual(deployment(world), stranger);
    assert.match(world.ready('a'), /Conflict/);
    world.remove(stranger);
    await world.settle();
    assert.equal((deployment(world).spec as { replicas: number }).replicas, 3);
  });

  test('the child of a former resource of the same name is waited for while it is being deleted', async () => {
    const world = await worldWithPodSet();
    const left = deployment(world);
    world.edit(left, { metadata: { ...left.metadata, finalizers: ['example.com/hold'] } });
    world.remove(world.get('apps.example.com/v1', 'PodSet', 'a')!);
    world.remove(left);
    await world.settle();
    world.podSet('a', { size: 1 });
    await world.settle();
    assert.equal(
      world.ready('a'),
      'False Waiting: deployment "a": Deployment "a" is being deleted',
    );
    const leaving = deployment(world);
    world.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [] } });
    await world.settle();
    assert.equal((deployment(world).spec as { replicas: number }).replicas, 1);
  });

  test('the child of a former resource that nobody deletes is in the way until it is deleted', async () => {
    const world = await worldWithPodSet();
    const left = deployment(world);
    world.remove(world.get('apps.example.com/v1', 'PodSet', 'a')!);
    await world.settle();
    world.podSet('a', { size: 1 });
    await world.settle();
    assert.match(world.ready('a'), /Conflict/);
    assert.deepEqual(deployment(world), left);
    world.remove(left);
    await world.settle();
    assert.equal((deployment(world).spec as { replicas: number }).replicas, 1);
  });

  test('a child that was replaced behind the back of the cache is read and judged again', async () => {
    const world = await worldWithPodSet();
    world.remove(deployment(world));
    const stranger = foreign(world);
    world.edit(world.get('apps.example.com/v1', 'PodSet', 'a')!, { spec: { size: 4 } });
    // The cache knows the new size but neither the deletion nor the stranger.
    await world.runOne(key);
    await world.settle();
    assert.deepEqual(deployment(world), stranger);
    assert.match(world.ready('a'), /Conflict/);
  });
});

describe('reconcile/child conflicts that end while they are looked at', () => {
  const foreignObjects = [
    ['an object of another resource', { 'homeostat.dev/owner-uid': 'somebody' }],
    ['an object without labels', {}],
  ] as const;
  for (const [what, labels] of foreignObjects) {
    test(`${what} that is deleted while the answer is on its way is not waited for`, async () => {
      const world = new OperatorWorld(podSetPlan());
      await world.start();
      world.podSet('a', { size: 3 });
      world.cluster.deliver();
      // The cache does not know it yet.
      const stranger = foreign(world, { labels });
      let turns = 0;
      world.cluster.pace = async () => {
        turns++;
        // The server has refused the apply (1), was asked for the object (2) and has answered (3).
        if (turns !== 3) return;
        world.cluster.deliver();
        world.remove(stranger);
        world.cluster.deliver();
      };
      await world.runOne(key);
      await world.settle();
      assert.equal((deployment(world).spec as { replicas: number }).replicas, 3);
      assert.match(world.ready('a'), /Progressing/);
    });
  }
});

describe('reconcile/child failures of requests', () => {
  test('a permanent one is reported and looked at again after retry.permanent', async () => {
    const world = new OperatorWorld(podSetPlan());
    await world.start();
    world.cluster.fault = ({ verb }) =>
      verb === 'apply'
        ? new KubeError('rejected', 'Deployment is invalid', {
            status: 422,
            causes: [
              { reason: 'FieldValueInvalid', message: 'must be positive', field: 'spec.replicas' },
            ],
          })
        : undefined;
    world.podSet('a', { size: -1 });
    await world.settle();
    assert.deepEqual(world.passes[0]?.end, {
      kind: 'failed',
      afterMs: 600_000,
      reason: 'ApplyFailed',
    });
    assert.equal(
      world.ready('a'),
      'False ApplyFailed: deployment "a": spec.replicas: must be positive',
    );
    assert.deepEqual(
      world.cluster.told.map(({ type, reason, note }) => [type, reason, note]),
      [['Warning', 'ApplyFailed', 'deployment "a": spec.replicas: must be positive']],
    );
    await world.runOne(key);
    assert.equal(world.cluster.told.length, 1);
  });

  test('a temporary one is thrown after the status was written', async () => {
    const world = new OperatorWorld(podSetPlan());
    await world.start();
    const error = new KubeError('unavailable', 'connect ECONNREFUSED 10.0.0.1', { status: 503 });
    world.cluster.fault = ({ verb }) => (verb === 'apply' ? error : undefined);
    world.podSet('a', { size: 3 });
    await world.settle();
    assert.deepEqual(world.passes[0]?.end, { kind: 'thrown', error });
    assert.equal(
      world.ready('a'),
      'False ApplyFailed: deployment "a": The API server is unavailable',
    );
    world.cluster.fault = () => undefined;
    assert.deepEqual(await world.runOne(key), { kind: 'done' });
  });

  test('the words of a server about a Secret are cut to reason and field', async () => {
    const child = secretChild({ stringData: { password: 'hunter2' } });
    const world = new OperatorWorld(podSetPlan({ status: {}, children: [child] }));
    await world.start();
    world.cluster.fault = ({ verb }) =>
      verb === 'apply'
        ? new KubeError('rejected', 'Invalid value: "hunter2"', {
            status: 422,
            reason: 'Invalid',
            causes: [
              { reason: 'FieldValueInvalid', message: 'Invalid value: "hunter2"', field: 'data' },
            ],
          })
        : undefined;
    world.podSet('a');
    await world.settle();
    assert.equal(world.ready('a'), 'False ApplyFailed: secret "a": Invalid: data');
    const written = JSON.stringify([world.status('a'), world.cluster.told, world.log]);
    assert.ok(!written.includes('hunter2'));
  });
});
