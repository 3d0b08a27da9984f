import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { type Dependency, DependencyIndex } from './dependency-index.ts';

/** Depends on paths of an object that it reads by name. */
function reads(...paths: string[]): Dependency {
  return {
    kind: 'object',
    isDesired: false,
    paths: paths.map((path) => [path]),
    isUnsynced: false,
  };
}

const onKind: Dependency = { kind: 'kind' };

/** An index, and the topics that have ended. */
function create() {
  const clock = new FakeClock();
  const ended: string[] = [];
  const onUnused = (topic: string) => () => void ended.push(topic);
  return { clock, ended, index: new DependencyIndex(clock, onUnused) };
}

describe('reconcile/watch/dependency-index', () => {
  test('has the resources that depend on a topic, with the last way in which they do', () => {
    const { index } = create();
    index.set('x', 'a', reads('spec'));
    index.set('x', 'a', reads('status'));
    index.set('x', 'b', onKind);
    assert.deepEqual(
      [...(index.of('x') ?? [])],
      [
        ['a', reads('status')],
        ['b', onKind],
      ],
    );
    assert.equal(index.of('y'), undefined);
  });

  test('an object may be read in several ways, and be wanted as a child', () => {
    const { index } = create();
    index.setObject('x', 'a', { paths: [['spec']], isUnsynced: true });
    index.setObject('x', 'a', { isDesired: true });
    index.setObject('x', 'a', { paths: [['status']], isUnsynced: false });
    assert.deepEqual(index.objectOf('x', 'a'), {
      kind: 'object',
      isDesired: true,
      paths: [['spec'], ['status']],
      isUnsynced: false,
    });
  });

  test('what the last resource does not use any more ends after a while', async () => {
    const { index, clock, ended } = create();
    index.set('x', 'a', reads());
    index.set('y', 'a', reads());
    index.set('y', 'b', reads());
    index.set('z', 'a', reads());
    index.retain('a', new Set(['z']));
    assert.equal(index.of('x'), undefined);
    assert.deepEqual([...(index.of('y')?.keys() ?? [])], ['b']);
    assert.equal(index.isUsed('x'), true);
    await clock.advance(60_000);
    assert.deepEqual(ended, ['x']);
    assert.equal(index.isUsed('x'), false);
  });

  test('what is used again in time does not end', async () => {
    const { index, clock, ended } = create();
    index.set('x', 'a', reads());
    index.retain('a', new Set());
    index.set('x', 'b', reads());
    await clock.advance(60_000);
    assert.deepEqual(ended, []);
  });

  test('kinds are kept apart from what a pass looks at', () => {
    const { index } = create();
    index.set('kind', 'a', onKind);
    index.set('x', 'a', reads());
    index.retain('a', new Set());
    assert.deepEqual([index.of('kind')?.size, index.of('x')], [1, undefined]);
    index.set('x', 'a', reads());
    index.retainKinds('a', new Set());
    assert.deepEqual([index.of('kind'), index.of('x')?.size], [undefined, 1]);
  });
});
