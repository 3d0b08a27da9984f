import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { DeletionGuard, PruneCandidate } from '../deletion-guard.ts';

const map = (id: string, more = '') => `
    - id: ${id}
      ${more}
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-${id}" }, data: { text: "\${ spec.text }" } }`;
const children = (...texts: readonly string[]) => `
  children:${texts.join('')}${texts.length === 0 ? ' []' : ''}`;

/** Says no until it is told otherwise, and remembers what it was asked. */
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

/** A world in which a definition has been worked on, and another one takes over with a guard. */
async function guardedWorld(before: string, after: string) {
  const world = new OperatorWorld(planOfPodSet(before));
  await world.start();
  world.podSet('a', { text: 'one' });
  world.cluster.deliver();
  await world.settle();
  const guard = new StubbornGuard();
  world.guard = guard;
  world.formerKinds = [gvkOf('v1', 'ConfigMap')];
  await world.restart(planOfPodSet(after));
  world.cluster.takeWrites();
  await world.settle();
  return { world, guard };
}

describe('reconcile/removal/deletion-guard', () => {
  test('what the guard keeps stays, everything else is done, and the status says why', async () => {
    const { world, guard } = await guardedWorld(
      children(map('one'), map('two')),
      children(map('three')),
    );
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['a-one', 'a-three', 'a-two']);
    assert.deepEqual(guard.asked, ['default/a: a-one,a-two']);
    assert.deepEqual(
      (world.status('a').children as readonly Record<string, unknown>[]).map(
        ({ name, state, message }) => `${name} ${state}: ${message}`,
      ),
      [
        'a-one Deleting: No longer desired; it stays for now',
        'a-two Deleting: No longer desired; it stays for now',
        'a-three Ready: Current',
      ],
    );
    assert.equal(
      world.ready('a'),
      'False DeletionsHeld: one "a-one": No longer desired; it stays for now; two "a-two": No longer desired; it stays for now',
    );
    assert.deepEqual(guard.settledKeys, []);
    const verdicts = world.decisions.get('default/a')?.children.map(({ verdict }) => verdict.kind);
    assert.deepEqual(verdicts, ['created', 'held', 'held']);
  });

  test('a pass that finds the same again sends nothing', async () => {
    const { world } = await guardedWorld(children(map('one')), children());
    world.cluster.takeWrites();
    world.queued.set('default/a', 'normal');
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('when the guard gives way it all goes in the next pass, and the resource has settled', async () => {
    const { world, guard } = await guardedWorld(children(map('one')), children());
    guard.answer = undefined;
    world.queued.set('default/a', 'normal');
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), []);
    assert.deepEqual([...new Set(guard.settledKeys)], ['default/a']);
    assert.match(world.ready('a'), /^True/);
  });

  test('what would be released stays ours too, though it would not be lost', async () => {
    const { world, guard } = await guardedWorld(
      children(map('one', 'deletionPolicy: Orphan')),
      children(),
    );
    const { labels } = world.get('v1', 'ConfigMap', 'a-one')?.metadata ?? {};
    assert.equal(labels?.['homeostat.dev/definition'], 'podset');
    assert.deepEqual(guard.asked, ['default/a: ']);
  });

  test('a resource that is deleted loses what it has, whatever the guard says', async () => {
    const { world, guard } = await guardedWorld(
      children(map('one', 'deletionPolicy: Orphan'), map('two', 'crossNamespace: true')),
      children(map('one', 'deletionPolicy: Orphan')),
    );
    assert.deepEqual(guard.asked, ['default/a: a-two']);
    const podSet = world.get('apps.example.com/v1', 'PodSet', 'a');
    assert.ok(podSet);
    world.remove(podSet);
    world.cluster.deliver();
    await world.settle();
    assert.equal(world.get('apps.example.com/v1', 'PodSet', 'a'), undefined);
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['a-one']);
  });

  test('a resource that has got everything and loses nothing has settled with its first pass', async () => {
    const { guard } = await guardedWorld(children(map('one')), children(map('one'), map('two')));
    assert.deepEqual(guard.asked, []);
    assert.deepEqual([...new Set(guard.settledKeys)], ['default/a']);
  });

  test('one that waits has not', async () => {
    const { guard } = await guardedWorld(
      children(map('one')),
      children(map('one', 'ready: "${ false }"'), map('two', 'after: [one]')),
    );
    assert.deepEqual(guard.settledKeys, []);
  });

  test('what is replaced by one of its name is not asked about', async () => {
    const recreated = map('one', 'updateStrategy: { type: Recreate }');
    const { world, guard } = await guardedWorld(
      children(recreated),
      children(recreated).replace('spec.text', "spec.text & '!'"),
    );
    assert.deepEqual(guard.asked, []);
    assert.deepEqual(world.get('v1', 'ConfigMap', 'a-one')?.data, { text: 'one!' });
  });
});
