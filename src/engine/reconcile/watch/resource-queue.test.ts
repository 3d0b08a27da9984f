import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ResourceQueue } from './resource-queue.ts';

/** A queue, and what it did, in order. */
function create() {
  const done: string[] = [];
  const queue = new ResourceQueue({
    definition: 'podset',
    keys: () => ['a', 'b'],
    noteEvent: (key) => void done.push(`event ${key}`),
    enqueue: (key, priority) => void done.push(`enqueue ${key} ${priority}`),
    trace: { onEnqueue: (key, cause) => void done.push(`${cause} ${key}`) },
  });
  return { queue, done };
}

describe('reconcile/watch/resource-queue', () => {
  test('a follow-up enqueues a resource, and is no event from outside', () => {
    const { queue, done } = create();
    queue.enqueueFollowUp('a', 'cluster-changed');
    assert.deepEqual(done, ['cluster-changed a', 'enqueue a normal']);
  });

  test('a time that is due is an event, and enqueues nothing: the resource runs already', () => {
    const { queue, done } = create();
    queue.noteDue('a', 'timer');
    assert.deepEqual(done, ['timer a', 'event a']);
  });

  test('a change of an informer enqueues all resources with low priority', () => {
    const { queue, done } = create();
    queue.enqueueAll();
    assert.deepEqual(
      done.filter((each) => each.startsWith('enqueue')),
      ['enqueue a low', 'enqueue b low'],
    );
  });
});
