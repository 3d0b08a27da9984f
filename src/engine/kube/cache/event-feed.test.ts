import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CacheEvent, StoredObject } from '../roles.ts';
import { EventFeed } from './event-feed.ts';

function stored(name: string): StoredObject {
  return {
    object: { apiVersion: 'v1', kind: 'Thing', metadata: { name } },
    cluster: undefined,
    appliedBy: [],
  };
}

function added(name: string): CacheEvent {
  return { namespace: '', name, current: stored(name), initial: false };
}

function failOnFault(error: unknown): void {
  throw error;
}

describe('kube/cache event feed', () => {
  test('a change made by a listener is reported after the one that it heard of, to all', () => {
    const feed = new EventFeed(failOnFault);
    const heard: string[] = [];
    feed.subscribe(({ name }) => {
      heard.push(`first ${name}`);
      if (name === 'a') feed.deliver(feed.prepare(added('b')));
    }, []);
    feed.subscribe(({ name }) => heard.push(`second ${name}`), []);
    feed.deliver(feed.prepare(added('a')));
    assert.deepEqual(heard, ['first a', 'second a', 'first b', 'second b']);
  });

  test('who subscribes within an event hears of the present, not of that event again', () => {
    const feed = new EventFeed(failOnFault);
    const heard: [string, boolean][] = [];
    let isNew = true;
    feed.subscribe(() => {
      if (!isNew) return;
      isNew = false;
      feed.subscribe(({ name, initial }) => heard.push([name, initial]), [stored('a')]);
      feed.deliver(feed.prepare(added('b')));
    }, []);
    feed.deliver(feed.prepare(added('a')));
    assert.deepEqual(heard, [
      ['a', true],
      ['b', false],
    ]);
  });

  test('changes made while the present is reported come after it', () => {
    const feed = new EventFeed(failOnFault);
    const heard: string[] = [];
    feed.subscribe(
      ({ name }) => {
        heard.push(name);
        if (name === 'a') feed.deliver(feed.prepare(added('c')));
      },
      [stored('a'), stored('b')],
    );
    assert.deepEqual(heard, ['a', 'b', 'c']);
  });

  test('who unsubscribes hears nothing more, not even what is waiting', () => {
    const feed = new EventFeed(failOnFault);
    const heard: string[] = [];
    feed.subscribe(() => unsubscribe(), []);
    const unsubscribe = feed.subscribe(({ name }) => heard.push(name), []);
    feed.deliver(feed.prepare(added('a')));
    feed.deliver(feed.prepare(added('b')));
    assert.deepEqual(heard, []);
  });

  test('a listener that throws is reported and keeps no listener from hearing', () => {
    const faults: unknown[] = [];
    const feed = new EventFeed((error) => faults.push(error));
    const heard: string[] = [];
    const fault = new Error('broken');
    feed.subscribe(() => {
      throw fault;
    }, []);
    feed.subscribe(({ name }) => heard.push(name), []);
    feed.deliver(feed.prepare(added('a')));
    feed.deliver(feed.prepare(added('b')));
    assert.deepEqual(heard, ['a', 'b']);
    assert.deepEqual(faults, [fault, fault]);
  });
});
