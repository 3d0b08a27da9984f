import type { FieldPath, OperatorPlan } from '../../compile/index.ts';
import type { CacheEvent, Informer, StoredObject, Watcher } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { keyOf } from '../../util/object-key.ts';
import { finalizerOf } from '../names.ts';
import { conditionTypesOf, isForeign, statusKeysOf } from '../status-fields.ts';
import { type Membership, membershipOf } from './membership.ts';
import { contentChanged, differingPath, isReplaced, metadataChanged } from './object-change.ts';
import type { ResourceQueue } from './resource-queue.ts';
import { StrandedResources, servesNamespace } from './served-namespaces.ts';

export interface ResourceWatchOptions {
  readonly plan: OperatorPlan;
  readonly watcher: Watcher;
  readonly queue: ResourceQueue;
  /** Where the runtime and its definitions live: served only where the definition names them. @default none */
  readonly guardedNamespaces?: ReadonlySet<string> | undefined;
  /** Are there objects with our finalizer though the definition needs none? @default false */
  readonly hasLeftFinalizers?: boolean;
  /** Told of every event of the kind before any resource is enqueued for it. @default nobody is told */
  readonly onEvent?: ((event: CacheEvent) => void) | undefined;
}

/** The watch on the resources of a definition. */
export interface ResourceWatch {
  readonly informer: Informer;
  readonly membership: Membership;
  /** Are resources in this namespace ours to work on (`controller.namespaces`)? */
  serves(namespace: string): boolean;
  /** What waits for our finalizer where nothing is served. */
  readonly stranded: StrandedResources;
  /** The keys of all resources that are there. */
  readonly keys: ReadonlySet<string>;
  get(namespace: string, name: string): StoredObject | undefined;
  /** An object that the watch holds though it is no resource (it does not match the selectors of `for`). */
  unmatched(namespace: string, name: string): StoredObject | undefined;
  /** The key of the object with this UID, matches it the selectors or not. */
  keyOfUid(uid: string): string | undefined;
  stop(): void;
}

/** Watches the resources and enqueues them when somebody else changed what a pass reads or writes. */
export function watchResources(options: ResourceWatchOptions): ResourceWatch {
  const { plan, watcher, queue, onEvent, hasLeftFinalizers = false } = options;
  const membership = membershipOf(plan, { hasLeftFinalizers });
  const informer = watcher.acquire(membership.query);
  const byUid = informer.index('uid', ({ metadata }) => [metadata.uid ?? '']);
  const keys = new Set<string>();
  const change = createResourceChange(plan);
  const isServed = servesNamespace(
    plan.definition.controller.namespaces,
    options.guardedNamespaces,
  );
  const stranded = new StrandedResources(finalizerOf(plan.name));
  const unsubscribe = informer.subscribe((event) => {
    if (!isServed(event.namespace)) return stranded.observe(event);
    onEvent?.(event);
    const key = keyOf(event.namespace, event.name);
    const wasThere = keys.has(key);
    if (isResource(event.current)) keys.add(key);
    else keys.delete(key);
    // Of objects that do not match only their becoming so matters, and what their finalizer waits for.
    if (!wasThere && !keys.has(key) && !isHeld(event)) return;
    if (change.isByOthers(event)) queue.enqueue(key, event.initial ? 'low' : 'normal');
    else if (change.isOfStatus(event)) queue.enqueueFor(key, event);
  });

  function isResource(stored: StoredObject | undefined): boolean {
    return stored !== undefined && membership.has(stored.object);
  }

  function isHeld({ current }: CacheEvent): boolean {
    return current?.object.metadata.finalizers?.includes(finalizerOf(plan.name)) === true;
  }

  function find(namespace: string, name: string): StoredObject | undefined {
    if (!isServed(namespace)) return undefined;
    return informer.get(namespace === '' ? undefined : namespace, name);
  }

  return {
    informer,
    membership,
    serves: isServed,
    stranded,
    keys,
    get(namespace, name) {
      const found = find(namespace, name);
      return isResource(found) ? found : undefined;
    },
    unmatched(namespace, name) {
      const found = find(namespace, name);
      return isResource(found) ? undefined : found;
    },
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
