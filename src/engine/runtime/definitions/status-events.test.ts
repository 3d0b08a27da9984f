import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import type { RolloutStatus } from '../rollout/rollout-part.ts';
import { type DefinitionStatus, eventsBetween } from './definition-status.ts';

const now = '2026-01-01T00:00:00Z';

function status(
  accepted: 'True' | 'False' | 'Unknown',
  {
    revision = 'r1',
    message = '',
    rollout,
    instances = 5,
  }: { revision?: string; message?: string; rollout?: RolloutStatus; instances?: number } = {},
): DefinitionStatus {
  const reason = { True: 'Accepted', False: 'Rejected', Unknown: 'Checking' }[accepted];
  return {
    conditions: [{ type: 'Accepted', status: accepted, reason, message, lastTransitionTime: now }],
    source: 'configmap ns/ops/a.yaml',
    revision,
    instances,
    ...(rollout && { rollout }),
    revisions: [],
    kinds: { resources: [], children: [] },
  };
}

function rolling(state: RolloutStatus['state']): RolloutStatus {
  return { from: 'r1', to: 'r2', state, reached: 0, total: 5, deletions: 12, failed: [] };
}

const none = {};
const good = status('True');
const failingIn = (...names: readonly string[]): DefinitionStatus => ({
  ...good,
  clusters: {
    selected: 3,
    running: 3 - names.length,
    unreachable: 0,
    failing: names.map((cluster) => ({ cluster, reason: 'Rejected', message: 'No' })),
  },
});
const table: readonly (readonly [
  string,
  DefinitionStatus | object,
  DefinitionStatus,
  readonly string[],
])[] = [
  ['a new definition that is being looked at', none, status('Unknown'), []],
  ['a new definition that is accepted', none, good, ['Normal Accepted']],
  ['a definition as it was', good, good, []],
  ['a member in which it fails', good, failingIn('a'), ['Warning ClustersFailing']],
  ['one more such member', failingIn('a'), failingIn('a', 'b'), ['Warning ClustersFailing']],
  ['the same members', failingIn('a', 'b'), failingIn('a', 'b'), []],
  ['another revision', good, status('True', { revision: 'r2' }), ['Normal Accepted']],
  ['a mistake', good, status('False', { message: 'a:1:1: x' }), ['Warning Rejected']],
  ['the same mistake', status('False', { message: 'm' }), status('False', { message: 'm' }), []],
  [
    'another mistake',
    status('False', { message: 'm' }),
    status('False', { message: 'n' }),
    ['Warning Rejected'],
  ],
  ['a mistake that is mended', status('False', { message: 'm' }), good, ['Normal Accepted']],
  [
    'a roll-out that begins',
    good,
    status('True', { revision: 'r2', rollout: rolling('rolling') }),
    ['Normal Accepted', 'Normal RolloutStarted'],
  ],
  [
    'a roll-out that continues',
    status('True', { rollout: rolling('rolling') }),
    status('True', { rollout: { ...rolling('rolling'), reached: 3 } }),
    [],
  ],
  ['a preview, which is quick', good, status('True', { rollout: rolling('previewing') }), []],
  [
    'deletions that are held',
    status('True', { rollout: rolling('previewing') }),
    status('True', { rollout: rolling('held') }),
    ['Warning DeletionsHeld'],
  ],
  [
    'a roll-out that stops',
    status('True', { rollout: rolling('rolling') }),
    status('True', { rollout: rolling('stopped') }),
    ['Warning RolloutStopped'],
  ],
  [
    'a roll-out that has reached all',
    status('True', { revision: 'r2', rollout: rolling('rolling') }),
    status('True', { revision: 'r2' }),
    ['Normal RolloutFinished'],
  ],
  [
    'a new revision of a definition without resources',
    status('True', { instances: 0 }),
    status('True', { instances: 0, rollout: { ...rolling('rolling'), total: 0 } }),
    [],
  ],
  [
    'a definition without resources that has its new revision',
    status('True', { revision: 'r2', instances: 0, rollout: { ...rolling('rolling'), total: 0 } }),
    status('True', { revision: 'r2', instances: 0 }),
    [],
  ],
  [
    'a roll-out that was given up for the old text',
    status('True', { revision: 'r1', rollout: rolling('held') }),
    status('True', { revision: 'r1' }),
    [],
  ],
];

describe('runtime/definitions/status-events', () => {
  for (const [what, before, after, expected] of table) {
    test(`${what}: ${expected.length === 0 ? 'no Event' : expected.join(', ')}`, () => {
      const events = eventsBetween(before as JsonObject, after);
      assert.deepEqual(
        events.map(({ type, reason }) => `${type} ${reason}`),
        expected,
      );
    });
  }

  test('warnings are reported with the text that is taken', () => {
    const message = 'From configmap ns/ops/a.yaml\nWarning: a.yaml:1:1: Odd';
    const [event] = eventsBetween(none, status('True', { message }));
    assert.equal(event?.note, 'Revision r1 (configmap ns/ops/a.yaml)\nWarning: a.yaml:1:1: Odd');
  });

  test('held deletions are reported with their number', () => {
    const [event] = eventsBetween(none, status('Unknown', { rollout: rolling('held') }));
    assert.equal(
      event?.note,
      'From revision r1 to r2: 0 of 5 resources, it would delete 12 objects',
    );
  });
});
