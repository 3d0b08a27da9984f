import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import {
  deploymentChild,
  podSetPlan,
  secretChild,
} from '../../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';

async function harnessWithPodSet(): Promise<OperatorHarness> {
  const harness = new OperatorHarness(podSetPlan());
  await harness.start();
  harness.podSet('a', { size: 3 });
  await harness.settle();
  harness.cluster.takeWrites();
  harness.passes.length = 0;
  return harness;
}

function deployment(harness: OperatorHarness): KubeObject {
  const object = harness.get('apps/v1', 'Deployment', 'a');
  assert.ok(object, 'Expected the Deployment to exist');
  return object;
}

function foreign(
  harness: OperatorHarness,
  metadata: Partial<KubeObject['metadata']> = {},
): KubeObject {
  return harness.cluster.server.put({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec: { replicas: 7 },
  }).object;
}

describe('reconcile/child drift', () => {
  test('a value that a user changed is reverted by one apply that names it', async () => {
    const harness = await harnessWithPodSet();
    const { spec } = deployment(harness);
    harness.edit(deployment(harness), { spec: { ...(spec as object), replicas: 9 } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal((deployment(harness).spec as { replicas: number }).replicas, 3);
    assert.deepEqual(harness.decisions.get(key)?.children[0]?.verdict, {
      kind: 'applied',
      fields: ['spec.replicas'],
    });
  });

  test('a foreign edit enqueues the resource once', async () => {
    const harness = await harnessWithPodSet();
    const { spec } = deployment(harness);
    harness.edit(deployment(harness), { spec: { ...(spec as object), replicas: 9 } });
    await harness.settle();
    assert.equal(harness.passes.length, 1);
  });

  test('a field that a user adds is left alone', async () => {
    const harness = await harnessWithPodSet();
    const { spec } = deployment(harness);
    harness.edit(deployment(harness), { spec: { ...(spec as object), paused: true } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.equal((deployment(harness).spec as { paused: boolean }).paused, true);
  });

  test('labels that a user took off are reverted', async () => {
    const harness = await harnessWithPodSet();
    const { metadata } = deployment(harness);
    harness.edit(deployment(harness), { metadata: { ...metadata, labels: {} } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a', 'apply Deployment/a']);
    assert.equal(deployment(harness).metadata.labels?.['homeostat.dev/child'], 'deployment');
  });

  test('a controller reference that a user took off is reverted', async () => {
    const harness = await harnessWithPodSet();
    const { ownerReferences: _gone, ...metadata } = deployment(harness).metadata;
    harness.edit(deployment(harness), { metadata });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal(deployment(harness).metadata.ownerReferences?.length, 1);
  });

  test('a field that leaves the intent is removed', async () => {
    const harness = new OperatorHarness(
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
    await harness.start();
    const podSet = harness.podSet('a', { size: 3 });
    await harness.settle();
    assert.equal(deployment(harness).metadata.annotations?.big, 'yes');
    harness.edit(podSet, { spec: { size: 1 } });
    await harness.settle();
    assert.equal(deployment(harness).metadata.annotations?.big, undefined);
  });

  test('a child that was deleted is made again', async () => {
    const harness = await harnessWithPodSet();
    harness.remove(deployment(harness));
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal((deployment(harness).spec as { replicas: number }).replicas, 3);
  });

  test('a child that is being deleted is made again when it is gone, not before', async () => {
    const harness = await harnessWithPodSet();
    const { metadata } = deployment(harness);
    harness.edit(deployment(harness), {
      metadata: { ...metadata, finalizers: ['example.com/hold'] },
    });
    await harness.settle();
    const { uid } = deployment(harness).metadata;
    harness.remove(deployment(harness));
    await harness.settle();
    assert.equal(
      harness.ready('a'),
      'False Waiting: deployment "a": Deployment "a" is being deleted',
    );
    assert.equal(deployment(harness).metadata.uid, uid);
    const leaving = deployment(harness).metadata;
    harness.edit(deployment(harness), { metadata: { ...leaving, finalizers: [] } });
    await harness.settle();
    assert.notEqual(deployment(harness).metadata.uid, uid);
    assert.equal(deployment(harness).metadata.deletionTimestamp, undefined);
  });

  test('what the server makes of an intent is remembered, and drift is still seen', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    // A webhook that rewrites the image of every apply.
    const { server } = harness.cluster;
    const apply = server.apply.bind(server);
    server.apply = (input) =>
      apply({ ...input, manifest: input.status ? input.manifest : withImage(input.manifest) });
    harness.podSet('a', { size: 3 });
    await harness.settle();
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    const { spec } = deployment(harness);
    harness.edit(deployment(harness), { spec: { ...(spec as object), replicas: 9 } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
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
      const harness = new OperatorHarness(podSetPlan());
      await harness.start();
      const foreignObject = foreign(harness, metadata);
      harness.podSet('a', { size: 3 });
      await harness.settle();
      assert.deepEqual(deployment(harness), foreignObject);
      assert.equal(
        harness.ready('a'),
        `False Conflict: deployment "a": Deployment "a" already exists and ${reason} rename the child`,
      );
      assert.deepEqual(harness.decisions.get(key)?.children[0]?.verdict, {
        kind: 'conflict',
        owner,
      });
      harness.remove(foreignObject);
      await harness.settle();
      assert.equal((deployment(harness).spec as { replicas: number }).replicas, 3);
      assert.match(harness.ready('a'), /Progressing/);
    });
  }

  test('while it is in the way no further request is made', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    foreign(harness);
    harness.podSet('a', { size: 3 });
    await harness.settle();
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('an object with labels copied from ours is not ours', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    const { uid } = harness.podSet('a', { size: 3 }).metadata;
    const foreignObject = foreign(harness, {
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
    await harness.settle();
    assert.deepEqual(deployment(harness), foreignObject);
    assert.match(harness.ready('a'), /Conflict/);
    harness.remove(foreignObject);
    await harness.settle();
    assert.equal((deployment(harness).spec as { replicas: number }).replicas, 3);
  });

  test('the child of a former resource of the same name is waited for while it is being deleted', async () => {
    const harness = await harnessWithPodSet();
    const left = deployment(harness);
    harness.edit(left, { metadata: { ...left.metadata, finalizers: ['example.com/hold'] } });
    harness.remove(harness.get('apps.example.com/v1', 'PodSet', 'a')!);
    harness.remove(left);
    await harness.settle();
    harness.podSet('a', { size: 1 });
    await harness.settle();
    assert.equal(
      harness.ready('a'),
      'False Waiting: deployment "a": Deployment "a" is being deleted',
    );
    const leaving = deployment(harness);
    harness.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [] } });
    await harness.settle();
    assert.equal((deployment(harness).spec as { replicas: number }).replicas, 1);
  });

  test('the child of a former resource that no one deletes is in the way until it is deleted', async () => {
    const harness = await harnessWithPodSet();
    const left = deployment(harness);
    harness.remove(harness.get('apps.example.com/v1', 'PodSet', 'a')!);
    await harness.settle();
    harness.podSet('a', { size: 1 });
    await harness.settle();
    assert.match(harness.ready('a'), /Conflict/);
    assert.deepEqual(deployment(harness), left);
    harness.remove(left);
    await harness.settle();
    assert.equal((deployment(harness).spec as { replicas: number }).replicas, 1);
  });

  test('a child that was replaced behind the back of the cache is read and judged again', async () => {
    const harness = await harnessWithPodSet();
    harness.remove(deployment(harness));
    const foreignObject = foreign(harness);
    harness.edit(harness.get('apps.example.com/v1', 'PodSet', 'a')!, { spec: { size: 4 } });
    // The cache knows the new size but neither the deletion nor the object of others.
    await harness.runOne(key);
    await harness.settle();
    assert.deepEqual(deployment(harness), foreignObject);
    assert.match(harness.ready('a'), /Conflict/);
  });
});

describe('reconcile/child conflicts that end while they are looked at', () => {
  const foreignObjects = [
    ['an object of another resource', { 'homeostat.dev/owner-uid': 'somebody' }],
    ['an object without labels', {}],
  ] as const;
  for (const [what, labels] of foreignObjects) {
    test(`${what} that is deleted while the answer is on its way is not waited for`, async () => {
      const harness = new OperatorHarness(podSetPlan());
      await harness.start();
      harness.podSet('a', { size: 3 });
      harness.cluster.deliver();
      // The cache does not know it yet.
      const foreignObject = foreign(harness, { labels });
      let turns = 0;
      harness.cluster.pace = async () => {
        turns++;
        // The server has rejected the apply (1), was asked for the object (2) and has answered (3).
        if (turns !== 3) return;
        harness.cluster.deliver();
        harness.remove(foreignObject);
        harness.cluster.deliver();
      };
      await harness.runOne(key);
      await harness.settle();
      assert.equal((deployment(harness).spec as { replicas: number }).replicas, 3);
      assert.match(harness.ready('a'), /Progressing/);
    });
  }
});

describe('reconcile/child failures of requests', () => {
  test('a permanent one is reported and looked at again after retry.permanent', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    harness.cluster.fault = ({ verb }) =>
      verb === 'apply'
        ? new KubeError('rejected', 'Deployment is invalid', {
            status: 422,
            causes: [
              { reason: 'FieldValueInvalid', message: 'must be positive', field: 'spec.replicas' },
            ],
          })
        : undefined;
    harness.podSet('a', { size: -1 });
    await harness.settle();
    assert.deepEqual(harness.passes[0]?.end, {
      kind: 'failed',
      afterMs: 600_000,
      reason: 'ApplyFailed',
    });
    assert.equal(
      harness.ready('a'),
      'False ApplyFailed: deployment "a": spec.replicas: must be positive',
    );
    assert.deepEqual(
      harness.cluster.reported.map(({ type, reason, note }) => [type, reason, note]),
      [['Warning', 'ApplyFailed', 'deployment "a": spec.replicas: must be positive']],
    );
    await harness.runOne(key);
    assert.equal(harness.cluster.reported.length, 1);
  });

  test('a temporary one is thrown after the status was written', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    const error = new KubeError('unavailable', 'connect ECONNREFUSED 10.0.0.1', { status: 503 });
    harness.cluster.fault = ({ verb }) => (verb === 'apply' ? error : undefined);
    harness.podSet('a', { size: 3 });
    await harness.settle();
    assert.deepEqual(harness.passes[0]?.end, { kind: 'error', error });
    assert.equal(
      harness.ready('a'),
      'False ApplyFailed: deployment "a": The API server is unavailable',
    );
    harness.cluster.fault = () => undefined;
    assert.deepEqual(await harness.runOne(key), { kind: 'done' });
  });

  test('the words of a server about a Secret are cut to reason and field', async () => {
    const child = secretChild({ stringData: { password: 'hunter2' } });
    const harness = new OperatorHarness(podSetPlan({ status: {}, children: [child] }));
    await harness.start();
    harness.cluster.fault = ({ verb }) =>
      verb === 'apply'
        ? new KubeError('rejected', 'Invalid value: "hunter2"', {
            status: 422,
            reason: 'Invalid',
            causes: [
              { reason: 'FieldValueInvalid', message: 'Invalid value: "hunter2"', field: 'data' },
            ],
          })
        : undefined;
    harness.podSet('a');
    await harness.settle();
    assert.equal(harness.ready('a'), 'False ApplyFailed: secret "a": Invalid: data');
    const written = JSON.stringify([harness.status('a'), harness.cluster.reported, harness.log]);
    assert.ok(!written.includes('hunter2'));
  });
});
