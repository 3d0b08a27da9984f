import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { locatedThing, runningView } from '../../../../test/support/fakes/thing-texts.ts';
import type { StateToRecord } from '../running/record-gate.ts';
import {
  type DefinitionStatus,
  differsInCountsOnly,
  hasStatus,
  statusOf,
} from './definition-status.ts';

const thing = locatedThing('thing');
const origin = { source: 'configmap', ref: 'ns/ops/thing.yaml' } as const;
const rejection = { message: 'no', diagnostics: [] };
const nothingKept: StateToRecord = { revisions: [], kinds: { resources: [], children: [] } };
const rollout = {
  from: 'aaaaaaaaaa',
  to: thing.definition.revision,
  state: 'rolling',
  reached: 3,
  total: 10,
  deletions: 0,
  failed: ['u1'],
  message: '3 of 10',
} as const;

function said(
  object: Partial<KubeObject>,
  {
    now = '2026-01-01T00:00:00.123Z',
    instances = 0,
    isRejected = false,
    persisted = nothingKept,
    reached = undefined as number | undefined,
  } = {},
): DefinitionStatus {
  const facts = {
    origin,
    warnings: [],
    view: runningView(thing, { instances }),
    isPaused: false,
    isDeleted: false,
    persisted: { ...persisted, ...(reached !== undefined && { rollout: { ...rollout, reached } }) },
    ...(isRejected && { rejection }),
  };
  return statusOf({ facts, object: objectWith(object), now });
}

function objectWith(changes: Partial<KubeObject>): KubeObject {
  return { apiVersion: 'v', kind: 'K', metadata: { name: 'thing', generation: 3 }, ...changes };
}

function sinceOf({ conditions }: DefinitionStatus, type: string): string | undefined {
  return conditions.find((condition) => condition.type === type)?.lastTransitionTime;
}

describe('runtime/definitions/definition-status', () => {
  test('a condition says since when it is so: its message may change meanwhile, its status not', () => {
    const first = said({});
    assert.equal(sinceOf(first, 'Accepted'), '2026-01-01T00:00:00Z');
    const later = { now: '2026-01-02T00:00:00Z', instances: 5 };
    assert.equal(sinceOf(said({ status: first }, later), 'Accepted'), '2026-01-01T00:00:00Z');
    const rejected = said({ status: first }, { ...later, isRejected: true });
    assert.equal(sinceOf(rejected, 'Accepted'), '2026-01-02T00:00:00Z');
    assert.equal(sinceOf(rejected, 'Running'), '2026-01-01T00:00:00Z');
  });

  test('what it says already is not written: conditions of others and the order do not count', () => {
    const status = said({});
    const conditions = [{ type: 'Theirs', status: 'True' }, ...status.conditions.toReversed()];
    assert.equal(hasStatus(objectWith({ status: { ...status, conditions } }), status), true);
    assert.equal(hasStatus(objectWith({ status: { ...status, kind: 'Other' } }), status), false);
    assert.equal(hasStatus(objectWith({}), status), false);
    const own = { install: { children: [] }, admission: { children: [] } };
    assert.equal(
      hasStatus(objectWith({ status: { ...status, conditions, ...own } }), status),
      true,
    );
  });

  test('a condition that is not so any more is to be taken away', () => {
    const status = said({});
    const stale = { ...status.conditions[0], type: 'Stalled' };
    const conditions = [...status.conditions, stale];
    assert.equal(hasStatus(objectWith({ status: { ...status, conditions } }), status), false);
  });

  test('reports counts from what people wait for', () => {
    const status = said({});
    const object = objectWith({ status });
    assert.equal(differsInCountsOnly(object, said({ status }, { instances: 7 })), true);
    assert.equal(differsInCountsOnly(object, said({ status }, { isRejected: true })), false);
    const rolling = objectWith({ status: said({}, { reached: 3 }) });
    assert.equal(differsInCountsOnly(rolling, said(rolling, { reached: 4 })), true);
    assert.equal(differsInCountsOnly(rolling, said(rolling)), false);
  });

  test('keeps revisions as they were written, and kinds in one order', () => {
    const spec = { for: { kind: 'Secret' }, unknown: [1, { a: null }] };
    const [a, b] = [
      { group: 'apps', kind: 'Deployment' },
      { group: '', kind: 'ConfigMap' },
    ];
    const revisions = [{ revision: 'r2', spec }];
    const kinds = { resources: [{ group: 'b.example.com', kind: 'B' }], children: [a, b] };
    const status = said({}, { persisted: { revisions, kinds } });
    assert.deepEqual(status.revisions, revisions);
    const turned = { ...kinds, children: [b, a, { group: 'apps', kind: 'Deployment' }] };
    assert.deepEqual(said({}, { persisted: { revisions, kinds: turned } }).kinds, status.kinds);
    assert.equal(status.kinds.children.length, 2);
  });

  test('a revision that is not on record yet is something that a user waits for', () => {
    const object = objectWith({ status: said({}) });
    const revisions = [{ revision: 'r2', spec: {} }];
    const next = said(object, { persisted: { ...nothingKept, revisions } });
    assert.equal(hasStatus(object, next), false);
    assert.equal(differsInCountsOnly(object, next), false);
  });

  test('of a roll-out it says what a later process needs, and no words', () => {
    const { message: _, ...reported } = rollout;
    assert.deepEqual(said({}, { reached: 3 }).rollout, reported);
  });

  test('shows revision, kind and where the text stands', () => {
    const { revision, kind, apiVersion, source, observedGeneration } = said({});
    assert.deepEqual(
      { revision, kind, apiVersion, source, observedGeneration },
      {
        revision: thing.definition.revision,
        kind: 'Thing',
        apiVersion: 'thing.example.com/v1',
        source: 'configmap ns/ops/thing.yaml',
        observedGeneration: 3,
      },
    );
  });
});
