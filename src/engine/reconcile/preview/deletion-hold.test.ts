import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { DeletionHold } from './deletion-hold.ts';

const gvk = gvkOf('v1', 'ConfigMap');

/** Objects of these UIDs. */
function objects(...uids: readonly string[]) {
  return uids.map((uid) => ({ ref: { gvk, namespace: 'default', name: uid }, uid, childId: 'a' }));
}

/** An object that holds data. */
function dataObject(uid: string) {
  return objects(uid).map((object) => ({ ...object, dataTitle: `Claim default/${uid}` }));
}

function holdOf(maxDeletions: number, keys = ['a', 'b', 'c']) {
  const changes: string[] = [];
  const letGo: string[] = [];
  const hold: DeletionHold = new DeletionHold({
    revision: 'new',
    maxDeletions,
    keys,
    onChange: () => changes.push(hold.state),
    onAllowed: (key) => letGo.push(key),
  });
  return { hold, changes, letGo };
}

describe('reconcile/preview/deletion-hold', () => {
  test('nothing is deleted before all previews are there', () => {
    const { hold } = holdOf(10);
    hold.expect('a', objects('1'));
    assert.equal(hold.state, 'unknown');
    assert.match(
      hold.blockingReason('a', objects('1')) ?? '',
      /until the deletions of the changed definition are counted/,
    );
    hold.decide();
    assert.equal(hold.blockingReason('a', objects('1')), undefined);
  });

  test('as many as allowed go, one more and none does', () => {
    for (const [maxDeletions, state] of [
      [3, 'free'],
      [2, 'held'],
      [0, 'held'],
    ] as const) {
      const { hold } = holdOf(maxDeletions);
      hold.expect('a', objects('1', '2'));
      hold.expect('b', objects('3'));
      hold.decide();
      assert.equal(hold.state, state, `of ${maxDeletions}`);
      assert.equal(hold.deletions, 3);
      assert.deepEqual(hold.affected, ['a', 'b']);
      assert.equal(hold.blockingReason('a', objects('1', '2')) === undefined, state === 'free');
      assert.equal(hold.blockingReason('b', objects('3')) === undefined, state === 'free');
      assert.equal(hold.deletions, 3, 'what has gone still counts');
    }
  });

  test('one object that holds data holds all deletions, whatever the limit is', () => {
    const { hold, letGo } = holdOf(10);
    hold.expect('a', [...objects('1'), ...dataObject('2')]);
    hold.expect('b', objects('3'));
    hold.decide();
    assert.equal(hold.state, 'held');
    assert.deepEqual(hold.dataObjects, ['Claim default/2']);
    assert.match(hold.blockingReason('b', objects('3')) ?? '', /are approved/);
    hold.approve('new');
    assert.deepEqual(letGo, ['b']);
    assert.equal(hold.blockingReason('a', [...objects('1'), ...dataObject('2')]), undefined);
    assert.deepEqual(hold.dataObjects, [], 'it is deleted');
    assert.equal(hold.deletions, 3);
  });

  test('an object that holds data and that only a pass finds holds the rest', () => {
    const { hold, changes } = holdOf(10);
    hold.expect('a', objects('1'));
    hold.decide();
    assert.equal(hold.blockingReason('a', objects('1')), undefined);
    assert.match(hold.blockingReason('b', dataObject('2')) ?? '', /are approved/);
    assert.match(hold.blockingReason('c', objects('3')) ?? '', /are approved/);
    assert.deepEqual(changes, ['held']);
  });

  test('a resource that is deleted, or whose new preview loses no data, holds nothing', () => {
    const { hold } = holdOf(10);
    hold.expect('a', dataObject('1'));
    hold.expect('b', dataObject('2'));
    hold.decide();
    hold.forget('a');
    assert.deepEqual(hold.dataObjects, ['Claim default/2']);
    hold.expect('b', objects('3'));
    assert.equal(hold.state, 'free');
  });

  test('a change that deletes nothing is free with maxDeletions: 0', () => {
    const { hold } = holdOf(0);
    hold.expect('a', []);
    hold.decide();
    assert.equal(hold.state, 'free');
  });

  test('what only a pass comes upon counts too, so that no more than allowed is ever deleted', () => {
    const { hold, changes } = holdOf(2);
    hold.decide();
    assert.equal(hold.blockingReason('a', objects('1', '2')), undefined);
    assert.deepEqual(changes, []);
    assert.match(hold.blockingReason('b', objects('3')) ?? '', /revision "new" are approved/);
    assert.deepEqual(changes, ['held']);
    assert.equal(hold.deletions, 3);
    assert.deepEqual(hold.affected, ['b']);
  });

  test('what is asked for again is counted once', () => {
    const { hold } = holdOf(2);
    hold.expect('a', objects('1', '2'));
    hold.decide();
    for (let times = 0; times < 3; times++) {
      assert.equal(hold.blockingReason('a', objects('1', '2')), undefined);
    }
    assert.equal(hold.deletions, 2);
    hold.expect('a', objects('1', '2'));
    assert.equal(hold.deletions, 2);
  });

  test('only the approval of this very revision counts, and it can be taken back', () => {
    const { hold } = holdOf(0);
    hold.expect('a', objects('1'));
    hold.decide();
    for (const revision of ['old', '', undefined]) {
      hold.approve(revision);
      assert.equal(hold.state, 'held', `${revision}`);
    }
    hold.approve('new');
    assert.equal(hold.state, 'free');
    hold.approve(undefined);
    assert.equal(hold.state, 'held');
  });

  test('an approval holds for what is found later', () => {
    const { hold } = holdOf(0);
    hold.approve('new');
    assert.equal(hold.state, 'free');
    assert.equal(hold.blockingReason('a', objects('1', '2', '3')), undefined);
  });

  for (const [what, release] of [
    ['all previews are there', (hold: DeletionHold) => hold.decide()],
    ['it is approved', (hold: DeletionHold) => hold.approve('new')],
  ] as const) {
    test(`who was rejected something is reported once when ${what}`, () => {
      const { hold, letGo } = holdOf(5);
      hold.blockingReason('a', objects('1'));
      hold.blockingReason('a', objects('1'));
      hold.expect('b', objects('2'));
      assert.deepEqual(letGo, []);
      release(hold);
      assert.deepEqual(letGo, ['a']);
      release(hold);
      assert.deepEqual(letGo, ['a']);
    });
  }

  test('who was rejected something is reported when so much is gone that the rest is within bounds', () => {
    const { hold, letGo } = holdOf(1);
    hold.decide();
    hold.blockingReason('a', objects('1', '2'));
    hold.blockingReason('b', objects('3'));
    assert.deepEqual(letGo, []);
    hold.forget('a');
    assert.deepEqual(letGo, ['b']);
  });

  test('a resource that has settled is asked about no more: what it loses later is not the change', () => {
    const { hold } = holdOf(0);
    hold.decide();
    hold.onConverged('a');
    assert.equal(hold.blockingReason('a', objects('1')), undefined);
    assert.equal(hold.deletions, 0);
  });

  test('a resource that was not there as the change began is free', () => {
    const { hold } = holdOf(0);
    assert.equal(hold.blockingReason('new one', objects('1')), undefined);
    hold.expect('new one', objects('1'));
    assert.equal(hold.deletions, 0);
  });

  test('what is deleted with its resource does not count any more', () => {
    const { hold } = holdOf(0);
    hold.expect('a', objects('1'));
    hold.decide();
    assert.equal(hold.state, 'held');
    hold.forget('a');
    assert.equal(hold.state, 'free');
  });

  test('it is over when every resource has settled or is gone', () => {
    const { hold, changes } = holdOf(0);
    hold.decide();
    hold.onConverged('a');
    hold.onConverged('b');
    assert.equal(hold.state, 'free');
    hold.onConverged('c');
    hold.onConverged('c');
    assert.equal(hold.state, 'over');
    assert.deepEqual(changes, ['over']);
  });

  test('of no resources it is over at once', () => {
    assert.equal(holdOf(0, []).hold.state, 'over');
  });
});
