import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReadPlan } from '#compile';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { ObjectTrack, type SeenState } from './object-track.ts';

const gvk = gvkOf('v1', 'ConfigMap');

function trackOf(keep: number): ObjectTrack {
  const read: ReadPlan = {
    id: 'configs',
    gvk,
    by: 'selector',
    optional: false,
    pathsRead: [],
    reach: 'own',
    selectsNamespaces: false,
    secrecy: 'none',
    history: { keep, keepDeletedMs: 1 },
  };
  const resource: KubeObject = { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' } };
  const subject = { ownerUid: 'u', readId: 'configs', namespace: 'default', name: 'app' };
  const owner = { key: 'default/a', uid: 'u', resource };
  return new ObjectTrack(owner, { read, subject, series: 'x-0' });
}

function state(value: string): SeenState {
  const metadata = { name: 'app', namespace: 'default' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } };
  return { kind: 'state', object, uid: 'o', isOverwritten: false };
}

function drain(track: ObjectTrack): readonly unknown[] {
  const values: unknown[] = [];
  for (let next = track.begin(); next !== undefined; next = track.begin()) {
    values.push(next.kind === 'state' ? next.object.data : next.kind);
    track.written();
  }
  track.end();
  return values;
}

describe('reconcile/history object track', () => {
  test('states wait in order; beyond "keep" the oldest one that is not being written is dropped', () => {
    const track = trackOf(2);
    track.push(state('1'));
    track.begin();
    track.push(state('2'));
    track.push(state('3'));
    assert.deepEqual(drain(track), [{ value: '1' }, { value: '3' }]);
  });

  test('more than 20 records in 60 s: one every 10 s, until the window has passed', () => {
    const track = trackOf(10);
    for (let at = 0; at < 20; at++) {
      assert.equal(track.delayMs(at * 100), 0);
      track.noteRecord(at * 100);
    }
    assert.equal(track.delayMs(2_000), 9_900);
    assert.equal(track.delayMs(11_900), 0);
    track.noteRecord(11_900);
    assert.equal(track.delayMs(12_000), 9_900);
    assert.equal(track.delayMs(62_000), 0);
  });

  test('a restore does not wait for the throttle', () => {
    const track = trackOf(10);
    for (let at = 0; at < 20; at++) track.noteRecord(0);
    track.isUrgent = true;
    assert.equal(track.delayMs(1), 0);
  });

  test('of too many states the newest one is kept', () => {
    const track = trackOf(10);
    for (const value of ['1', '2', '3']) track.push(state(value));
    track.collapse();
    assert.deepEqual(drain(track), [{ value: '3' }]);
  });

  test('a state that a restore overwrites is recorded if anything differs', () => {
    const track = trackOf(10);
    const seen = state('1');
    const { metadata, ...content } = seen.object;
    const earlier = { ...content, metadata: { ...metadata, labels: { a: 'b' } } };
    assert.equal(track.isRecorded(seen, earlier as KubeObject), true);
    assert.equal(track.isRecorded({ ...seen, isOverwritten: true }, earlier as KubeObject), false);
  });

  test('waiting for it ends when it is dropped', async () => {
    const track = trackOf(10);
    track.push(state('1'));
    const settled = track.settled();
    track.clear();
    await settled;
    assert.equal(track.last, undefined);
  });
});
