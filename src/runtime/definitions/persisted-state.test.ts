import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { locatedShadow, shadowSpec } from '../../../test/support/fakes/shadow-definition.ts';
import { PersistedStateTracker } from './persisted-state.ts';

const secrets = { group: '', kind: 'Secret' };
const configMaps = { group: '', kind: 'ConfigMap' };
const services = { group: '', kind: 'Service' };
const nothing = { revisions: [], kinds: { resources: [], children: [] } };

describe('runtime/definitions/persisted-state', () => {
  test('a kind that the accepted revision creates again is not dropped when no former object of it is left', async () => {
    const stored = { revisions: [], kinds: { resources: [], children: [configMaps, services] } };
    const tracker = new PersistedStateTracker(stored, () => {});
    const recording = tracker.record(locatedShadow(shadowSpec('a')), new AbortController().signal);
    tracker.onWritten(tracker.state);
    await recording;
    // The clean-up after the previous roll-out still runs while the watches of the next revision start.
    tracker.dropKinds({ children: [configMaps, services] });
    assert.deepEqual(tracker.state.kinds, { resources: [secrets], children: [configMaps] });
  });

  test('a roll-out stays on record while its controller starts again', () => {
    const tracker = new PersistedStateTracker(nothing, () => {});
    const counts = { reached: 1, total: 3, deletions: 0, message: '' };
    const rollout = { from: 'a', to: 'b', state: 'stopped', failed: ['uid'], ...counts } as const;
    tracker.prune({ activeRevisions: ['b', 'a'], rollout });
    tracker.prune({});
    tracker.prune({ activeRevisions: [] });
    assert.deepEqual(tracker.rollout, rollout);
    tracker.prune({ activeRevisions: ['b'] });
    assert.equal(tracker.rollout, undefined);
  });

  test('a roll-out to a revision that is not the newest is not kept', () => {
    const tracker = new PersistedStateTracker(nothing, () => {});
    const counts = { reached: 1, total: 3, deletions: 0, failed: [], message: '' };
    const rollout = { from: 'a', to: 'b', state: 'rolling', ...counts } as const;
    tracker.prune({ activeRevisions: ['c'], rollout });
    assert.equal(tracker.rollout, undefined);
  });
});
