import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { shadowObject, shadowSpec } from '../../../../test/support/fakes/shadow-definition.ts';
import { locatedThing, runningView } from '../../../../test/support/fakes/thing-texts.ts';
import { kindsStatus } from '../recorded-state.ts';
import { statusOf } from './definition-status.ts';
import { recordOf } from './record.ts';

const spec = shadowSpec('v1');
const bare = shadowObject(spec);
const withStatus = (status: unknown): KubeObject => ({ ...bare, status }) as KubeObject;
const withMetadata = (metadata: object): KubeObject => shadowObject(spec, metadata);

describe('runtime/definitions/record', () => {
  test('an object that a user has just made says nothing but its name', () => {
    assert.deepEqual(recordOf(bare), {
      object: bare,
      name: 'shadow',
      origin: { source: 'object', ref: 'shadow' },
      sourceRef: undefined,
      runtime: undefined,
      isPaused: false,
      approvedDeletions: undefined,
      rejected: [],
      withdrawnAtMs: undefined,
      isDeleted: false,
      isAbandoned: false,
      hasFinalizer: false,
      revisions: [],
      rollout: undefined,
      kinds: { resources: [], children: [] },
    });
  });

  test('what is written on an object is read from it', () => {
    const { origin, runtime, ...record } = recordOf(
      withMetadata({
        labels: { 'homeostat.dev/source': 'directory', 'homeostat.dev/runtime': 'here' },
        annotations: {
          'homeostat.dev/source-ref': '/defs/a.yaml',
          'homeostat.dev/paused': 'true',
          'homeostat.dev/approve-deletions': 'r1',
          'homeostat.dev/rejected': 'a.yaml:1:1: One\na.yaml:2:1: Two',
          'homeostat.dev/withdrawn': '2026-01-01T00:00:01Z',
          'homeostat.dev/abandon': 'true',
        },
        finalizers: ['theirs', 'homeostat.dev/definition'],
        deletionTimestamp: '2026-01-01T00:00:02Z',
      }),
    );
    assert.deepEqual(origin, { source: 'directory', ref: '/defs/a.yaml' });
    assert.equal(runtime, 'here');
    assert.ok(record.isPaused && record.isDeleted && record.isAbandoned && record.hasFinalizer);
    assert.equal(record.approvedDeletions, 'r1');
    assert.deepEqual(record.rejected, ['a.yaml:1:1: One', 'a.yaml:2:1: Two']);
    assert.equal(record.withdrawnAtMs, Date.parse('2026-01-01T00:00:01Z'));
  });

  for (const [what, annotations] of [
    ['that is not "true"', { 'homeostat.dev/paused': 'yes', 'homeostat.dev/abandon': '1' }],
    ['that is empty', { 'homeostat.dev/approve-deletions': '', 'homeostat.dev/rejected': '' }],
    ['that is no time', { 'homeostat.dev/withdrawn': 'yesterday' }],
  ] as const)
    test(`a mark ${what} is none`, () => {
      const record = recordOf(withMetadata({ annotations }));
      const { isPaused, isAbandoned, approvedDeletions, rejected, withdrawnAtMs } = record;
      assert.deepEqual(
        [isPaused, isAbandoned, approvedDeletions, rejected, withdrawnAtMs],
        [false, false, undefined, [], undefined],
      );
    });

  test('what a status keeps is what another process finds', () => {
    const revisions = [
      { revision: 'r2', spec },
      { revision: 'r1', spec: { anything: [1, null] } },
    ];
    const kinds = {
      resources: [{ group: '', kind: 'Secret' }],
      children: [
        { group: '', kind: 'ConfigMap' },
        { group: 'apps', kind: 'Deployment' },
      ],
    };
    const rollout = {
      from: 'r1',
      to: 'r2',
      state: 'stopped',
      failed: ['u1', 'u2'],
      reached: 1,
      total: 5,
      deletions: 0,
      message: 'Two have failed',
    } as const;
    const status = statusOf({
      facts: {
        origin: { source: 'object', ref: 'shadow' },
        warnings: [],
        isPaused: false,
        isDeleted: false,
        view: runningView(locatedThing('thing')),
        persisted: { revisions, kinds, rollout },
      },
      object: bare,
      now: '2026-01-01T00:00:00Z',
    });
    const found = recordOf(withStatus(status));
    assert.deepEqual(found.revisions, revisions);
    assert.deepEqual(kindsStatus(found.kinds), kindsStatus(kinds));
    const { from, to, state, failed } = rollout;
    assert.deepEqual(found.rollout, { from, to, state, failed });
  });

  for (const [written, expected] of [
    ['previewing', 'rolling'],
    ['rolling', 'rolling'],
    ['held', 'held'],
    ['stopped', 'stopped'],
    ['of a later version', 'rolling'],
  ] as const)
    test(`a roll-out that was ${written} is ${expected} for the next process`, () => {
      const { rollout } = recordOf(withStatus({ rollout: { from: 'a', to: 'b', state: written } }));
      assert.deepEqual(rollout, { from: 'a', to: 'b', state: expected, failed: [] });
    });

  test('a status that others have filled with something else is no status', () => {
    for (const status of [
      undefined,
      'text',
      [],
      { revisions: 'r1', rollout: [], kinds: 'ConfigMap' },
      {
        revisions: [
          1,
          {},
          { revision: 'r1' },
          { revision: 2, spec: {} },
          { revision: 'r', spec: [] },
        ],
      },
      { rollout: { from: 1, to: 'b' }, kinds: { resources: 'Secret', children: [1, {}, ''] } },
    ]) {
      const { revisions, rollout, kinds } = recordOf(withStatus(status));
      assert.deepEqual(
        { revisions, rollout, kinds },
        { revisions: [], rollout: undefined, kinds: { resources: [], children: [] } },
      );
    }
  });

  test('of a list that was tampered with what can be read is read', () => {
    const status = {
      revisions: [{ revision: 'r1', spec, more: 1 }, 'x'],
      rollout: { from: 'a', to: 'b', state: 'held', failed: ['u1', 2, null] },
    };
    const { revisions, rollout } = recordOf(withStatus(status));
    assert.deepEqual(revisions, [{ revision: 'r1', spec }]);
    assert.deepEqual(rollout?.failed, ['u1']);
  });
});
