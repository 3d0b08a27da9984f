import type { FieldPath, OperatorPlan } from '../../compile/index.ts';
import type { CacheEvent } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { conditionTypesOf, isForeign, statusKeysOf } from '../status-fields.ts';
import { differingPath } from './field-values.ts';
import { contentChanged, isReplaced, metadataChanged } from './object-change.ts';

type Status = Readonly<Record<string, unknown>>;

/** Judges changes of a resource. */
export interface ResourceChange {
  /**
   * Is this a change that a pass reads and none makes? It counts also when it comes with the answer to our own status write: the pass
   * has ended by then, and the watch event of the edit is older than the answer, so that nothing else would tell of it.
   */
  isByOthers(event: CacheEvent): boolean;
  /** Did what we write into the status change? */
  isOfStatus(event: CacheEvent): boolean;
}

/** What counts for the resources of a plan. */
export function createResourceChange(plan: OperatorPlan): ResourceChange {
  const keys = statusKeysOf(plan);
  const types = conditionTypesOf(plan);
  // What we map is judged as ours, below.
  const foreignPaths = plan.foreignPathsRead.filter(
    ([, key]) => key === undefined || !keys.includes(key),
  );

  function isByOthers(event: CacheEvent): boolean {
    if (event.initial || isReplaced(event)) return true;
    const before = event.old?.object;
    const after = event.current?.object;
    if (before === undefined || after === undefined) return false;
    if (before.metadata.generation !== after.metadata.generation) return true;
    if (metadataChanged(before, after)) return true;
    if (!isForeign(plan)) return false;
    if (after.metadata.generation === undefined && contentChanged(before, after)) return true;
    return foreignStatusChanged(before, after, { keys, paths: foreignPaths });
  }

  return {
    isByOthers,
    isOfStatus({ old, current }) {
      const before = statusOf(old?.object);
      const after = statusOf(current?.object);
      return (
        keys.some((key) => !deepEqual(before[key], after[key])) ||
        !deepEqual(ownConditions(before.conditions, types), ownConditions(after.conditions, types))
      );
    },
  };
}

/** Of a kind without generations any field counts; of others what expressions read. */
function foreignStatusChanged(
  before: KubeObject,
  after: KubeObject,
  { keys, paths }: { readonly keys: readonly string[]; readonly paths: readonly FieldPath[] },
): boolean {
  const isCounted = after.metadata.generation !== undefined;
  if (isCounted && paths.length === 0) return false;
  const [then, now] = [before, after].map((object) => ({ status: withoutOwn(object, keys) }));
  return isCounted ? differingPath(then, now, paths) !== undefined : !deepEqual(then, now);
}

function withoutOwn(object: KubeObject, keys: readonly string[]): Status {
  const status = statusOf(object);
  return keys.length === 0
    ? status
    : Object.fromEntries(Object.entries(status).filter(([key]) => !keys.includes(key)));
}

function statusOf(object: KubeObject | undefined): Status {
  return isJsonObject(object?.status) ? object.status : {};
}

function ownConditions(conditions: unknown, types: ReadonlySet<unknown>): readonly unknown[] {
  if (!Array.isArray(conditions)) return [];
  return conditions.filter((condition) => types.has(condition?.type));
}
