import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, type KubeErrorCode } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { View } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { deploymentChild, podSetPlan } from '../../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';
const right = {
  verb: 'create',
  group: 'apps',
  resource: 'deployments',
  namespace: 'default',
} as const;

function rejection(code: KubeErrorCode): KubeError {
  const more = code === 'forbidden' ? { right: { ...right, name: 'a' } } : {};
  return new KubeError(code, 'no', { status: 422, ...more });
}

/** A PodSet whose Deployment, which also shows a ConfigMap, is rejected. */
async function rejectedHarness(code: KubeErrorCode = 'rejected') {
  const harness = new OperatorHarness(
    podSetPlan({
      reads: [
        {
          id: 'config',
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: () => 'config',
          optional: true,
          pathsRead: [['data']],
        },
      ],
      children: [{ ...deploymentChild, readsUsed: ['config'] }],
    }),
  );
  harness.cluster.fault = ({ verb }) => (verb === 'apply' ? rejection(code) : undefined);
  await harness.start();
  const podSet = harness.podSet('a', { size: 1 });
  await harness.settle();
  assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a', 'status PodSet/a']);
  return { harness, podSet };
}

describe('reconcile/ledger/rejections', () => {
  for (const code of ['rejected', 'denied', 'forbidden', 'too-large'] as const) {
    test(`what was ${code} is not sent again by passes that change nothing`, async () => {
      const { harness } = await rejectedHarness(code);
      for (let passes = 0; passes < 3; passes++) await harness.runOne(key);
      assert.deepEqual(harness.cluster.takeWrites(), []);
      assert.equal(harness.passes.at(-1)?.end.kind, 'failed');
    });
  }

  test('a change of the intent has it sent again', async () => {
    const { harness, podSet } = await rejectedHarness();
    harness.edit(podSet, { spec: { size: 2 } });
    await harness.settle();
    assert.ok(harness.cluster.takeWrites().includes('apply Deployment/a'));
  });

  test('a change of what the resource carries has it sent again, though no expression reads it', async () => {
    const { harness, podSet } = await rejectedHarness();
    const labels = { team: 'other' };
    harness.edit(podSet, { metadata: { ...podSet.metadata, labels } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
  });

  test('a change of a read has it sent again, and one that nothing reads has not', async () => {
    const { harness } = await rejectedHarness();
    const metadata = { name: 'config', namespace: 'default' };
    const config = harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    harness.edit(config.object, { metadata: { ...metadata, labels: { some: 'label' } } });
    await harness.settle();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('retry.permanent has it sent again', async () => {
    const { harness } = await rejectedHarness();
    await harness.clock.advance(599_900);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    await harness.clock.advance(100);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
  });

  test('an event does not put off the retry', async () => {
    const { harness } = await rejectedHarness();
    await harness.clock.advance(540_000);
    await harness.runOne(key);
    const reason = 'ApplyFailed';
    assert.deepEqual(harness.passes.at(-1)?.end, { kind: 'failed', afterMs: 60_000, reason });
  });

  test('the object that is there is read in the comparison: what a user changed of it may be the cure', async () => {
    const { harness, podSet } = await rejectedHarness();
    harness.cluster.fault = () => undefined;
    harness.edit(podSet, { spec: { size: 2 } });
    await harness.settle();
    harness.cluster.fault = ({ verb }) => (verb === 'apply' ? rejection('rejected') : undefined);
    harness.edit(podSet, { spec: { size: 3 } });
    await harness.settle();
    harness.cluster.takeWrites();
    const deployment = harness.get('apps/v1', 'Deployment', 'a');
    assert.ok(deployment);
    harness.edit(deployment, { status: { readyReplicas: 1 } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
    const meddle = async (count: number) => {
      harness.edit(deployment, { spec: { ...(deployment.spec as object), replicas: count } });
      await harness.settle();
      return harness.cluster.takeWrites();
    };
    await harness.clock.advance(5_000);
    assert.deepEqual(await meddle(7), ['apply Deployment/a']);
    // But not with each write of somebody who writes all the time.
    assert.deepEqual(await meddle(8), []);
    assert.deepEqual(harness.passes.at(-1)?.end, {
      kind: 'failed',
      afterMs: 10_000,
      reason: 'ApplyFailed',
    });
    await harness.clock.advance(10_000);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    // One that is deleted is made at once.
    harness.cluster.fault = () => undefined;
    harness.remove(deployment);
    await harness.settle();
    assert.ok(harness.cluster.takeWrites().includes('apply Deployment/a'));
  });

  test('an object that another manager changes all the time has it sent again later and later, and after a success soon again', async () => {
    const { harness, podSet } = await rejectedHarness();
    harness.cluster.fault = () => undefined;
    harness.edit(podSet, { spec: { size: 2 } });
    await harness.settle();
    const deployment = () => harness.get('apps/v1', 'Deployment', 'a') as KubeObject;
    const reject = () => {
      harness.cluster.fault = ({ verb }) => (verb === 'apply' ? rejection('rejected') : undefined);
    };
    reject();
    harness.edit(podSet, { spec: { size: 3 } });
    await harness.settle();
    harness.cluster.takeWrites();
    /** Times of the applies, in seconds, of 20 minutes in which the object changes each second. */
    const sentAt = async (): Promise<readonly number[]> => {
      const times: number[] = [];
      for (let second = 1; second <= 1_200; second++) {
        await harness.clock.advance(1_000);
        const { metadata } = deployment();
        const annotations = { ...metadata.annotations, beat: String(second) };
        harness.cluster.server.put(
          { ...deployment(), metadata: { ...metadata, annotations } },
          'heart',
        );
        await harness.settle();
        if (harness.cluster.takeWrites().includes('apply Deployment/a')) times.push(second);
      }
      return times;
    };
    // 5 s, 10 s, 20 s and so on, to `retry.permanent` (10 minutes).
    assert.deepEqual(await sentAt(), [5, 15, 35, 75, 155, 315, 635]);
    harness.cluster.fault = () => undefined;
    await harness.clock.advance(600_000);
    await harness.runOne(key);
    await harness.settle();
    assert.match(harness.ready('a'), /Progressing/);
    reject();
    harness.edit(podSet, { spec: { size: 4 } });
    await harness.settle();
    harness.cluster.takeWrites();
    assert.deepEqual((await sentAt()).slice(0, 3), [5, 15, 35]);
  });

  test('a right that comes has all that missed it run again, and what was rejected for it sent', async () => {
    const { harness } = await rejectedHarness('forbidden');
    harness.podSet('b', { size: 1 });
    await harness.settle();
    // One question for all of them, about the first: a rule that names it is noticed, and so is one without names.
    assert.deepEqual(harness.cluster.rights.wanted, [{ ...right, name: 'a' }]);
    assert.match(
      harness.ready('a'),
      /^False Forbidden: deployment "a": The runtime is not allowed to create deployments\.apps in namespace "default"; grant the rule/,
    );
    harness.cluster.takeWrites();
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.settle();
    assert.deepEqual(harness.names('apps/v1', 'Deployment'), ['a', 'b']);
    assert.deepEqual(harness.cluster.rights.wanted, []);
    assert.match(harness.ready('a'), /Progressing/);
  });

  test('nothing waits for a right any more when the resource is gone, or the operator stops', async () => {
    const { harness, podSet } = await rejectedHarness('forbidden');
    harness.podSet('b', { size: 1 });
    await harness.settle();
    harness.remove(podSet);
    await harness.settle();
    assert.equal(harness.cluster.rights.wanted.length, 1);
    harness.operator.stop();
    assert.deepEqual(harness.cluster.rights.wanted, []);
  });

  test('a quota is asked for with long delays, and reported as temporary', async () => {
    const { harness } = await rejectedHarness('quota-exceeded');
    assert.deepEqual(harness.passes.at(-1)?.end, {
      kind: 'retry',
      baseDelayMs: 5_000,
      maxDelayMs: 300_000,
      reason: 'ApplyFailed',
    });
    // Events in between do not ask more often.
    await harness.clock.advance(4_900);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.cluster.fault = () => undefined;
    await harness.clock.advance(100);
    await harness.runOne(key);
    assert.deepEqual(harness.names('apps/v1', 'Deployment'), ['a']);
  });

  test('in a namespace that is deleted nothing is reported in Events, and the condition says why', async () => {
    const { harness } = await rejectedHarness('namespace-terminating');
    assert.equal(
      harness.ready('a'),
      'False Terminating: deployment "a": The namespace is being deleted: no objects can be created in it',
    );
    assert.equal(harness.passes.at(-1)?.end.kind, 'retry');
    assert.deepEqual(harness.cluster.reported, []);
  });

  test('a restart asks the server once more, and reports nothing again', async () => {
    const { harness } = await rejectedHarness();
    assert.equal(harness.cluster.reported.length, 1);
    await harness.restart(podSetPlan());
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal(harness.cluster.reported.length, 1);
    // Another failure is news.
    harness.cluster.fault = ({ verb }) => (verb === 'apply' ? rejection('too-large') : undefined);
    await harness.clock.advance(600_000);
    await harness.runOne(key);
    assert.equal(harness.cluster.reported.length, 2);
  });

  test('a deletion that is forbidden is not asked for again before the right comes', async () => {
    const child = { ...deploymentChild, when: ({ resource }: View) => resource.spec.on !== false };
    const harness = new OperatorHarness(podSetPlan({ children: [child] }));
    await harness.start();
    const podSet = harness.podSet('a', { size: 1 });
    await harness.settle();
    const missing = { ...right, verb: 'delete' };
    harness.cluster.fault = ({ verb }) =>
      verb === 'delete'
        ? new KubeError('forbidden', 'no', { status: 403, right: missing })
        : undefined;
    harness.edit(podSet, { spec: { on: false } });
    await harness.settle();
    harness.cluster.takeWrites();
    for (let passes = 0; passes < 3; passes++) await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.match(harness.ready('a'), /^False Forbidden: .*not allowed to delete deployments\.apps/);
    await harness.clock.advance(540_000);
    await harness.runOne(key);
    const reason = 'Forbidden';
    assert.deepEqual(harness.passes.at(-1)?.end, { kind: 'failed', afterMs: 60_000, reason });
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.settle();
    assert.deepEqual(harness.names('apps/v1', 'Deployment'), []);
  });
});
