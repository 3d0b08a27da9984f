import type { OperatorPlan } from '../../compile/index.ts';
import type { ServedKind } from '../../definition/index.ts';
import type {
  CacheEvent,
  Informer,
  InformerQuery,
  StoredObject,
  Watcher,
} from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { keyOf } from '../../util/object-key.ts';
import { ownConditionTypes, statusKeysOf } from '../report/status-fields.ts';
import { isReplaced, metadataChanged } from './object-change.ts';
import { type Waker, wakeFor } from './waker.ts';

export interface ResourceWatchOptions {
  readonly plan: OperatorPlan;
  readonly watcher: Watcher;
  readonly waker: Waker;
}

/** The watch on the resources of a definition. */
export interface ResourceWatch {
  readonly informer: Informer;
  /** The keys of all resources that are there. */
  readonly keys: ReadonlySet<string>;
  get(namespace: string, name: string): StoredObject | undefined;
  /** The key of the resource with this UID. */
  keyOfUid(uid: string): string | undefined;
  stop(): void;
}

/** Which objects are watched as resources of a kind. */
export function resourceQueryOf(kind: ServedKind): InformerQuery {
  return { gvk: kind.gvk };
}

/** Watches the resources and wakes them when somebody else changed what a pass reads or writes. */
export function watchResources({ plan, watcher, waker }: ResourceWatchOptions): ResourceWatch {
  const informer = watcher.acquire(resourceQueryOf(plan.definition.kind));
  const byUid = informer.index('uid', ({ metadata }) => [metadata.uid ?? '']);
  const keys = new Set<string>();
  const statusKeys = statusKeysOf(plan);
  const unsubscribe = informer.subscribe((event) => {
    const key = keyOf(event.namespace, event.name);
    if (event.current === undefined) keys.delete(key);
    else keys.add(key);
    if (wokenByOthers(event)) waker.wake(key, event.initial ? 'low' : 'normal');
    else if (statusChanged(event, statusKeys)) wakeFor(waker, key, { event });
  });
  return {
    informer,
    keys,
    get: (namespace, name) => informer.get(namespace === '' ? undefined : namespace, name),
    keyOfUid(uid) {
      const [stored] = byUid.get(uid);
      return stored && keyOf(stored.object.metadata.namespace, stored.object.metadata.name);
    },
    stop() {
      unsubscribe();
      informer.release();
    },
  };
}

/**
 * Is this a change that a pass reads and none makes? It counts also when it comes with the answer to our own status write: the pass
 * has ended by then, and the watch event of the edit is older than the answer, so that nothing else would tell of it.
 */
function wokenByOthers(event: CacheEvent): boolean {
  if (event.initial || isReplaced(event)) return true;
  const before = event.old?.object;
  const after = event.current?.object;
  if (before === undefined || after === undefined) return false;
  return before.metadata.generation !== after.metadata.generation || metadataChanged(before, after);
}

/** Did what we write into the status change? */
function statusChanged({ old, current }: CacheEvent, keys: readonly string[]): boolean {
  const before = statusOf(old?.object);
  const after = statusOf(current?.object);
  return (
    keys.some((key) => !deepEqual(before[key], after[key])) ||
    !deepEqual(ownConditions(before.conditions), ownConditions(after.conditions))
  );
}

function statusOf(object: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return isJsonObject(object?.status) ? object.status : {};
}

function ownConditions(conditions: unknown): readonly unknown[] {
  if (!Array.isArray(conditions)) return [];
  return conditions.filter((condition) => ownConditionTypes.has(condition?.type));
}
