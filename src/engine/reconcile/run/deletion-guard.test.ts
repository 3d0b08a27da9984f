import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
import type { DeletionGuard } from '../deletion-guard.ts';
import type { PruneCandidate } from '../prune-candidate.ts';

const map = (id: string, more = '') => `
    - id: ${id}
      ${more}
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-${id}" }, data: { text: "\${ spec.text }" } }`;
const children = (...texts: readonly string[]) => `
  children:${texts.join('')}${texts.length === 0 ? ' []' : ''}`;

/** Denies until it is changed, and records what it was asked. */
class StubbornGuard implements DeletionGuard {
  answer: string | undefined = 'it stays for now';
  readonly asked: string[] = [];
  readonly settledKeys: string[] = [];

  blockingReason(key: string, objects: readonly PruneCandidate[]): string | undefined {
    this.asked.push(`${key}: ${objects.map(({ ref }) => ref.name).sort()}`);
    return this.answer;
  }

  onConverged(key: string): void {
    this.settledKeys.push(key);
  }
}

/** A harness in which a definition has been worked on, and another one takes over with a guard. */
async function guardedHarness(before: string, after: string) {
  const harness = new OperatorHarness(planOfPodSet(before));
  await harness.start();
  harness.podSet('a', { text: 'one' });
  harness.cluster.deliver();
  await harness.settle();
  const guard = new StubbornGuard();
  harness.guard = guard;
  harness.formerKinds = [gvkOf('v1', 'ConfigMap')];
  await harness.restart(planOfPodSet(after));
  harness.cluster.takeWrites();
  await harness.settle();
  return { harness, guard };
}

describe('reconcile/removal/deletion-guard', () => {
  test('what the guard keeps stays, everything else is done, and the status says why', async () => {
    const { harness, guard } = await guardedHarness(
      children(map('one'), map('two')),
      children(map('three')),
    );
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['a-one', 'a-three', 'a-two']);
    assert.deepEqual(guard.asked, ['default/a: a-one,a-two']);
    assert.deepEqual(
      (harness.status('a').children as readonly Record<string, unknown>[]).map(
        ({ name, state, message }) => `${name} ${state}: ${message}`,
      ),
      [
        'a-one Deleting: No longer desired; it stays for now',
        'a-two Deleting: No longer desired; it stays for now',
        'a-three Ready: Current',
      ],
    );
    assert.equal(
      harness.ready('a'),
      'False DeletionsHeld: one "a-one": No longer desired; it stays for now; two "a-two": No longer desired; it stays for now',
    );
    assert.deepEqual(guard.settledKeys, []);
    const verdicts = harness.decisions
      .get('default/a')
      ?.children.map(({ verdict }) => verdict.kind);
    assert.deepEqual(verdicts, ['created', 'held', 'held']);
  });

  test('a pass that finds the same again sends nothing', async () => {
    const { harness } = await guardedHarness(children(map('one')), children());
    harness.cluster.takeWrites();
    harness.queued.set('default/a', 'normal');
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('when the guard allows it all of it is deleted in the next pass, and the resource has settled', async () => {
    const { harness, guard } = await guardedHarness(children(map('one')), children());
    guard.answer = undefined;
    harness.queued.set('default/a', 'normal');
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
    assert.deepEqual([...new Set(guard.settledKeys)], ['default/a']);
    assert.match(harness.ready('a'), /^True/);
  });

  test('what would be released stays ours too, though it would not be lost', async () => {
    const { harness, guard } = await guardedHarness(
      children(map('one', 'deletionPolicy: Orphan')),
      children(),
    );
    const { labels } = harness.get('v1', 'ConfigMap', 'a-one')?.metadata ?? {};
    assert.equal(labels?.['homeostat.dev/definition'], 'podset');
    assert.deepEqual(guard.asked, ['default/a: ']);
  });

  test('a resource that is deleted loses what it has, whatever the guard says', async () => {
    const { harness, guard } = await guardedHarness(
      children(map('one', 'deletionPolicy: Orphan'), map('two', 'crossNamespace: true')),
      children(map('one', 'deletionPolicy: Orphan')),
    );
    assert.deepEqual(guard.asked, ['default/a: a-two']);
    const podSet = harness.get('apps.example.com/v1', 'PodSet', 'a');
    assert.ok(podSet);
    harness.remove(podSet);
    harness.cluster.deliver();
    await harness.settle();
    assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'a'), undefined);
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['a-one']);
  });

  test('a resource that has got everything and loses nothing has settled with its first pass', async () => {
    const { guard } = await guardedHarness(children(map('one')), children(map('one'), map('two')));
    assert.deepEqual(guard.asked, []);
    assert.deepEqual([...new Set(guard.settledKeys)], ['default/a']);
  });

  test('it is not asked about versions that are all kept', async () => {
    const journal = `
  reads: [{ id: apps, apiVersion: v1, kind: Service, selector: all, history: { keep: 5 } }]`;
    const { guard } = await guardedHarness(
      journal + children(map('one')),
      journal + children(map('one'), map('two')),
    );
    assert.deepEqual(guard.asked, []);
    assert.deepEqual([...new Set(guard.settledKeys)], ['default/a']);
  });

  test('another guard takes its place, and none any more', async () => {
    const { harness, guard } = await guardedHarness(children(map('one')), children());
    const next = new StubbornGuard();
    harness.operator.guardDeletions(next);
    guard.asked.length = 0;
    await harness.runOne('default/a');
    assert.deepEqual([guard.asked, next.asked], [[], ['default/a: a-one']]);
    harness.operator.guardDeletions(undefined);
    await harness.runOne('default/a');
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
  });

  test('one that waits has not', async () => {
    const { guard } = await guardedHarness(
      children(map('one')),
      children(map('one', 'ready: "${ false }"'), map('two', 'after: [one]')),
    );
    assert.deepEqual(guard.settledKeys, []);
  });

  test('one of which a deletion is rejected has not', async () => {
    const { harness, guard } = await guardedHarness(children(map('one')), children());
    guard.answer = undefined;
    harness.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('forbidden', 'no', { status: 403 }) : undefined;
    await harness.runOne('default/a');
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['a-one']);
    assert.deepEqual(guard.settledKeys, []);
  });

  test('what is replaced by one of its name is not asked about', async () => {
    const recreated = map('one', 'updateStrategy: { type: Recreate }');
    const { harness, guard } = await guardedHarness(
      children(recreated),
      children(recreated).replace('spec.text', "spec.text & '!'"),
    );
    assert.deepEqual(guard.asked, []);
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'a-one')?.data, { text: 'one!' });
  });
});
