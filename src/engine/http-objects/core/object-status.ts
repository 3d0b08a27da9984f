import { type ConditionContent, conditionFor } from '#util/condition.ts';
import { isJsonObject, type Json, type JsonObject, jsonLength } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import type { Settled } from './view.ts';

/** What a reconcile found out, for the status. */
export interface StatusFacts {
  readonly settled: Settled;
  readonly id: string | undefined;
  /** HTTP status of the last answer. Undefined: no request was answered. */
  readonly code: number | undefined;
  /** ISO 8601. Undefined: nothing was created or changed. */
  readonly changedAt: string | undefined;
  /** Undefined: they are not known now. */
  readonly values: JsonObject | undefined;
  /** Of the field `ready`. Undefined: it has none. */
  readonly isReady: boolean | undefined;
}

/** Largest `status.values`, as JSON. */
const maxValuesLength = 32 * 1024;

/** Builds the status. Values that are not known now are kept: `Synced` says that they are stale. Pure. */
export function objectStatusOf(
  facts: StatusFacts,
  { object, now }: { readonly object: KubeObject; readonly now: string },
): JsonObject {
  const before = isJsonObject(object.status) ? object.status : {};
  const { settled, id } = facts;
  const values = facts.values ?? before.values;
  const isTooLarge = values !== undefined && jsonLength(values) > maxValuesLength;
  const synced: ConditionContent = { type: 'Synced', ...settled.synced };
  const ready = keptReady(facts, object) ?? readyOf(facts, isTooLarge);
  const conditions = [ready, synced].map((condition) => ({
    ...conditionFor(condition, { object, now }),
  }));
  const { generation } = object.metadata;
  const code = codeOf(facts.code, before.code);
  const lastChange = facts.changedAt ?? before.lastChange;
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(id !== undefined && { id }),
    ...(values !== undefined && !isTooLarge && { values }),
    ...(code !== undefined && { code }),
    ...(lastChange !== undefined && { lastChange }),
    conditions: conditions as unknown as Json,
  };
}

/** A look after a create, which is answered with 200 after 201, changes nothing: the first of several successes is kept. */
function codeOf(code: number | undefined, before: Json | undefined): Json | undefined {
  if (code === undefined) return before;
  const isSuccess = (each: number) => each >= 200 && each < 300;
  return typeof before === 'number' && isSuccess(before) && isSuccess(code) ? before : code;
}

/** `Ready` as it was, if the API could not be asked and the spec is the same: an outage of the API does not make its objects unready. */
function keptReady({ settled }: StatusFacts, object: KubeObject): ConditionContent | undefined {
  if (settled.isObserved) return undefined;
  const before = conditionsOf(object).find(({ type }) => type === 'Ready');
  const isCurrent = before?.observedGeneration === object.metadata.generation;
  if (before?.status !== 'True' || !isCurrent) return undefined;
  return { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
}

function readyOf({ settled, isReady }: StatusFacts, isTooLarge: boolean): ConditionContent {
  const { status, reason, message } = settled.synced;
  const type = 'Ready';
  if (status !== 'True') return { type, status: 'False', reason, message };
  if (isTooLarge)
    return {
      type,
      status: 'False',
      reason: 'ValuesTooLarge',
      message: 'Expected at most 32 KiB of "values"',
    };
  if (isReady === false)
    return {
      type,
      status: 'False',
      reason: 'NotReady',
      message: 'The code in "ready" is not true',
    };
  return { type, status: 'True', reason: 'Ready', message: '' };
}
