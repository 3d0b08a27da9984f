import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { locatedShadow, shadowSpec } from '../../../../test/support/fakes/shadow-definition.ts';
import type { DefinitionView } from '../definition-view.ts';
import { RecordGate } from './record-gate.ts';

const secrets = { group: '', kind: 'Secret' };
const configMaps = { group: '', kind: 'ConfigMap' };
const services = { group: '', kind: 'Service' };
const nothing = { revisions: [], kinds: { resources: [], children: [] }, rollout: undefined };

const shownBy = (gate: RecordGate) => gate.complete<Pick<DefinitionView, 'rollout'>>({}).rollout;

describe('runtime/running/record-gate', () => {
  test('a kind that the accepted revision creates again is not dropped when no former object of it is left', () => {
    const stored = {
      revisions: [],
      kinds: { resources: [], children: [configMaps, services] },
      rollout: undefined,
    };
    const gate = new RecordGate(stored, () => {});
    gate.accept(locatedShadow(shadowSpec('a')));
    gate.recorded(gate.report());
    assert.ok(gate.isOpen);
    // The clean-up after the previous roll-out still runs while the watches of the next revision start.
    gate.dropKinds({ children: [configMaps, services] });
    assert.deepEqual(gate.state.kinds, { resources: [secrets], children: [configMaps] });
  });

  const [a, b] = [locatedShadow(shadowSpec('a')), locatedShadow(shadowSpec('b'))];

  /** A gate that has recorded `a`, and has accepted `b`. */
  function acceptedNext() {
    const gate = new RecordGate(nothing, () => {});
    gate.accept(a);
    gate.recorded(gate.report());
    gate.accept(b);
    return { gate, next: gate.report() };
  }

  for (const [what, without] of [
    ['its roll-out', { rollout: undefined }],
    ['its kinds', { kinds: nothing.kinds }],
    ['its revision', { revisions: [] }],
    ['anything, as an object that was created anew,', nothing],
  ] as const)
    test(`a status that records a revision without ${what} does not open it`, async () => {
      const { gate, next } = acceptedNext();
      let isOpen = false;
      const opened = gate.opened(new AbortController().signal).then(() => {
        isOpen = true;
      });
      gate.recorded({ ...next, ...without });
      await Promise.resolve();
      assert.deepEqual([gate.isOpen, isOpen], [false, false]);
      assert.deepEqual(gate.report(), next);
      gate.recorded(next);
      await opened;
      assert.ok(gate.isOpen);
    });

  test('a roll-out stays on record while its controller starts again', () => {
    const gate = new RecordGate(nothing, () => {});
    const counts = { reached: 1, total: 3, deletions: 0, message: '' };
    const rollout = { from: 'a', to: 'b', state: 'stopped', failed: ['uid'], ...counts } as const;
    gate.report({ activeRevisions: ['b', 'a'], rollout });
    gate.report({});
    gate.report({ activeRevisions: [] });
    assert.deepEqual(shownBy(gate), rollout);
    gate.report({ activeRevisions: ['b'] });
    assert.equal(shownBy(gate), undefined);
  });

  test('an unfinished roll-out of the status continues with what was shown of it last', () => {
    const record = { from: 'a', to: 'b', state: 'rolling', failed: [] } as const;
    const revisions = [{ revision: 'b', spec: {} }];
    const gate = new RecordGate({ ...nothing, revisions, rollout: record }, () => {});
    assert.deepEqual(gate.unfinished, record);
    const last = { ...record, state: 'stopped', failed: ['uid'] } as const;
    const counts = { reached: 1, total: 3, deletions: 0, message: '' };
    gate.report({ activeRevisions: ['b', 'a'], rollout: { ...last, ...counts } });
    assert.deepEqual(gate.unfinished, last);
    gate.recorded({ ...nothing, revisions });
    assert.equal(gate.unfinished, undefined);
  });

  test('a roll-out is unfinished from when the status contains it', () => {
    const { gate, next } = acceptedNext();
    const before = gate.unfinished;
    gate.recorded(next);
    assert.deepEqual([before, gate.unfinished?.state], [undefined, 'rolling']);
  });

  test('a roll-out to a revision that is not the newest is not kept', () => {
    const gate = new RecordGate(nothing, () => {});
    const counts = { reached: 1, total: 3, deletions: 0, failed: [], message: '' };
    const rollout = { from: 'a', to: 'b', state: 'rolling', ...counts } as const;
    gate.report({ activeRevisions: ['c'], rollout });
    assert.equal(shownBy(gate), undefined);
  });
});
