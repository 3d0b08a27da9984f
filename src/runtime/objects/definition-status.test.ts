import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { locatedThing, runningView } from '../../../test/support/fakes/definition-world.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { factsOf } from './definition-facts.ts';
import {
  type DefinitionStatus,
  differsInCountsOnly,
  saysAlready,
  statusOf,
} from './definition-status.ts';
import { arrangeTold } from './told-definitions.ts';

const thing = locatedThing('thing');
const origin = { source: 'configmap', ref: 'ns/ops/thing.yaml' } as const;
const refusal = { message: 'no', diagnostics: [] };

function said(
  object: Partial<KubeObject>,
  { now = '2026-01-01T00:00:00.123Z', instances = 0, isRefused = false } = {},
): DefinitionStatus {
  const told = arrangeTold({
    definitions: [{ located: thing, origin, ...(isRefused && { refusal }) }],
  }).holderOf('thing');
  assert.ok(told);
  const live = objectWith(object);
  const view = runningView(thing, { instances });
  const facts = factsOf(told, new Map([['thing', view]]), live);
  return statusOf({ facts, object: live, generation: 3, now });
}

function objectWith(changes: Partial<KubeObject>): KubeObject {
  return { apiVersion: 'v', kind: 'K', metadata: { name: 'thing', generation: 3 }, ...changes };
}

function sinceOf({ conditions }: DefinitionStatus, type: string): string | undefined {
  return conditions.find((condition) => condition.type === type)?.lastTransitionTime;
}

describe('runtime/objects/definition-status', () => {
  test('a condition says since when it is so: its message may change meanwhile, its status not', () => {
    const first = said({});
    assert.equal(sinceOf(first, 'Accepted'), '2026-01-01T00:00:00Z');
    const later = { now: '2026-01-02T00:00:00Z', instances: 5 };
    assert.equal(sinceOf(said({ status: first }, later), 'Accepted'), '2026-01-01T00:00:00Z');
    const refused = said({ status: first }, { ...later, isRefused: true });
    assert.equal(sinceOf(refused, 'Accepted'), '2026-01-02T00:00:00Z');
    assert.equal(sinceOf(refused, 'Running'), '2026-01-01T00:00:00Z');
  });

  test('what it says already is not written: conditions of others and the order do not count', () => {
    const status = said({});
    const conditions = [{ type: 'Theirs', status: 'True' }, ...status.conditions.toReversed()];
    assert.equal(saysAlready(objectWith({ status: { ...status, conditions } }), status), true);
    assert.equal(saysAlready(objectWith({ status: { ...status, kind: 'Other' } }), status), false);
    assert.equal(saysAlready(objectWith({}), status), false);
  });

  test('a condition that is not so any more is to be taken away', () => {
    const status = said({});
    const stale = { ...status.conditions[0], type: 'Stalled' };
    const conditions = [...status.conditions, stale];
    assert.equal(saysAlready(objectWith({ status: { ...status, conditions } }), status), false);
  });

  test('tells counts from what people wait for', () => {
    const status = said({});
    const object = objectWith({ status });
    assert.equal(differsInCountsOnly(object, said({ status }, { instances: 7 })), true);
    assert.equal(differsInCountsOnly(object, said({ status }, { isRefused: true })), false);
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
