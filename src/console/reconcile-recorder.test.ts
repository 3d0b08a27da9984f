import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import type { OperatorPlan } from '../compile/index.ts';
import type { DecisionRecord } from '../reconcile/index.ts';
import type { ReconcileRecord } from '../web/index.ts';
import { ReconcileRecorder } from './reconcile-recorder.ts';

const gvk = { group: 'example.com', version: 'v1', kind: 'Thing' };
const plan = { name: 'thing', revision: 'abc', definition: { kind: { gvk } } } as OperatorPlan;
const resource = { apiVersion: 'example.com/v1', kind: 'Thing', namespace: 'ns', name: 'a' };
const record: DecisionRecord = { children: [], status: 'written', isReady: true, problemCodes: [] };
const stored = (generation: number, status: object = {}) => ({
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', generation },
    status,
  },
  appliedBy: [],
});

/** Follows a resource until the test stops it. */
function followed(recorder: ReconcileRecorder, name = 'a') {
  const records: ReconcileRecord[] = [];
  const stopper = new AbortController();
  const ended = (async () => {
    for await (const each of recorder.follow({ ...resource, name }, stopper.signal))
      records.push(each);
  })();
  return { records, stop: () => stopper.abort(), ended };
}

function setUp() {
  const clock = new FakeClock();
  const recorder = new ReconcileRecorder(clock);
  const reconcile = async (key = 'ns/a', ms = 0) => {
    recorder.onBegin(plan, key);
    await clock.advance(ms);
    recorder.onDecisions(plan, key, record);
    await settle();
  };
  return { recorder, reconcile };
}

describe('console/reconcile-recorder', () => {
  test('records what caused a reconcile, what it decided and how long it took', async () => {
    const { recorder, reconcile } = setUp();
    const { records, stop, ended } = followed(recorder);
    await settle();
    recorder.onChange(plan, 'ns/a', { old: stored(1), current: stored(2) });
    recorder.onChange(plan, 'ns/a', { old: stored(2), current: stored(2, { ready: 1 }) });
    await reconcile('ns/a', 7);
    await reconcile();
    assert.deepEqual(
      records.map((each) => [each.trigger, each.durationMs, each.status, each.revision]),
      [
        ['Pod ns/p was edited, Pod ns/p changed its status', 7, 'written', 'abc'],
        ['a timer, a retry or a reload', 0, 'written', 'abc'],
      ],
    );
    stop();
    await ended;
  });

  test('nothing is recorded of a resource that no page has followed', async () => {
    const { recorder, reconcile } = setUp();
    await reconcile();
    const { records, stop } = followed(recorder);
    await settle();
    assert.deepEqual(records, []);
    stop();
  });

  test('a page that returns gets the records since it was there first, 200 at most', async () => {
    const { recorder, reconcile } = setUp();
    const first = followed(recorder);
    await settle();
    first.stop();
    await first.ended;
    for (let count = 0; count < 210; count++) await reconcile();
    const { records, stop } = followed(recorder);
    await settle();
    assert.deepEqual([records.length, records[0]?.number], [200, 11]);
    stop();
  });

  test('records of 50 resources are kept, and of all that a page follows', async () => {
    const { recorder, reconcile } = setUp();
    const kept = followed(recorder, 'kept');
    for (let count = 0; count < 60; count++) {
      const other = followed(recorder, `other-${count}`);
      await settle();
      other.stop();
      await other.ended;
    }
    await reconcile('ns/kept');
    await reconcile('ns/other-0');
    const returned = followed(recorder, 'other-0');
    await settle();
    assert.deepEqual([kept.records.length, returned.records.length], [1, 0]);
    kept.stop();
    returned.stop();
  });
});
