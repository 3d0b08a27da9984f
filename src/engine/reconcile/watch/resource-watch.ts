import type { FieldPath, OperatorPlan } from '#compile';
import type { ServedNamespaces } from '#definition';
import type { CacheEvent, Informer, StoredObject } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { matchesGlob } from '#util/glob.ts';
import { type KubeObject, keyOf, parseKey } from '#util/kube-object.ts';
import { finalizerOf } from '#util/stored-names.ts';
import { kindAt } from '../identity.ts';
import { conditionTypesOf, isForeign, statusKeysOf, statusOf } from '../status-fields.ts';
import { type Membership, membershipOf } from './membership.ts';
import { contentChanged, differingPath, isReplaced, metadataChanged } from './object-change.ts';
import type { WatchesOptions } from './watches.ts';

/** The watch on the resources of a definition. */
export interface ResourceWatch {
  readonly informer: Informer;
  readonly membership: Membership;
  /** Whether resources in this namespace are served (`controller.namespaces`). */
  serves(namespace: string): boolean;
  /** Deletions that wait for our finalizer in namespaces that are not served. */
  readonly unserved: UnservedDeletions;
  /** The keys of all existing resources. */
  readonly keys: ReadonlySet<string>;
  get(key: string): StoredObject | undefined;
  /** A watched object that is not a resource: it does not match the selectors of `for`. */
  unmatched(key: string): StoredObject | undefined;
  /** The key of the object with this UID, whether it matches the selectors or not. */
  keyOfUid(uid: string): string | undefined;
  stop(): void;
}

/** Watches the resources and enqueues them when another manager changes a field that a reconcile reads or writes. */
export function watchResources(options: WatchesOptions): ResourceWatch {
  const { plan, cluster, clock, queue, onResourceEvent, onGuarded, onWatchState } = options;
  const { hasRemainingFinalizers = false, guardedNamespaces } = options;
  const membership = membershipOf(plan, { hasRemainingFinalizers });
  const { query } = membership;
  const informer = cluster.acquire({ ...query, gvk: kindAt(query.gvk, undefined) });
  const byUid = informer.index('uid', ({ metadata }) => [metadata.uid ?? '']);
  const keys = new Set<string>();
  const change = createResourceChange(plan);
  const { namespaces } = plan.definition.controller;
  const isServed = servesNamespace(namespaces, guardedNamespaces);
  const isServedUnguarded = servesNamespace(namespaces);
  const unserved = new UnservedDeletions(finalizerOf(plan.name), clock, onWatchState);
  const unsubscribe = informer.subscribe((event) => {
    if (!isServed(event.namespace)) {
      if (event.current && isResource(event.current) && isServedUnguarded(event.namespace))
        onGuarded?.(event.current.object);
      return unserved.observe(event);
    }
    onResourceEvent?.(event);
    const key = keyOf(event.namespace, event.name);
    const wasThere = keys.has(key);
    if (isResource(event.current)) keys.add(key);
    else keys.delete(key);
    // Of objects that do not match, only the transition and pending finalizers matter.
    if (!wasThere && !keys.has(key) && !isHeld(event)) return;
    if (change.isForeign(event)) queue.enqueueForeign(key, event);
    else if (change.isOfStatus(event)) queue.enqueueFor(key, event);
  });

  function isResource(stored: StoredObject | undefined): boolean {
    return stored !== undefined && membership.has(stored.object);
  }

  function isHeld({ current }: CacheEvent): boolean {
    return current?.object.metadata.finalizers?.includes(finalizerOf(plan.name)) === true;
  }

  function find(key: string): StoredObject | undefined {
    const { namespace, name } = parseKey(key);
    if (!isServed(namespace)) return undefined;
    return informer.get(namespace === '' ? undefined : namespace, name);
  }

  return {
    informer,
    membership,
    serves: isServed,
    unserved,
    keys,
    get(key) {
      const found = find(key);
      return isResource(found) ? found : undefined;
    },
    unmatched(key) {
      const found = find(key);
      return isResource(found) ? undefined : found;
    },
    keyOfUid(uid) {
      const [stored] = byUid.get(uid);
      return stored && keyOf(stored.object.metadata.namespace, stored.object.metadata.name);
    },
    stop() {
      unsubscribe();
      unserved.stop();
      informer.release();
    },
  };
}

type Status = Readonly<Record<string, unknown>>;

/** Creates the classification of changes of the resources of a plan. */
export function createResourceChange(plan: OperatorPlan) {
  const keys = statusKeysOf(plan);
  const types = conditionTypesOf(plan);
  // Mapped fields are ours; they are checked below.
  const foreignPaths = plan.externalStatusPathsRead.filter(
    ([, key]) => key === undefined || !keys.includes(key),
  );

  /**
   * Whether a reconcile reads the change and did not make it. It also counts in the response to our own status write: the reconcile has
   * ended by then, and the watch event of the edit is older than the response, so no other event reports it.
   */
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
    isForeign: isByOthers,
    /** Whether status fields that we write changed. */
    isOfStatus({ old, current }: CacheEvent): boolean {
      const before = statusOf(old?.object);
      const after = statusOf(current?.object);
      return (
        keys.some((key) => !deepEqual(before[key], after[key])) ||
        !deepEqual(ownConditions(before.conditions, types), ownConditions(after.conditions, types))
      );
    },
  };
}

/** For a kind without generations every field counts; for others the fields that expressions read. */
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

function ownConditions(conditions: unknown, types: ReadonlySet<unknown>): readonly unknown[] {
  if (!Array.isArray(conditions)) return [];
  return conditions.filter((condition) => types.has(condition?.type));
}

/**
 * Returns whether resources in a namespace are served (`controller.namespaces`). Other namespaces are neither read nor changed: another
 * runtime may serve them. The guarded namespaces of the runtime and its definitions are served only if `include` names them in full: a
 * resource there could change the runtime's own objects.
 */
export function servesNamespace(
  served: ServedNamespaces | undefined,
  guarded: ReadonlySet<string> = new Set(),
): (namespace: string) => boolean {
  const { include, exclude = [] } = served ?? {};
  return (namespace) =>
    namespace === '' ||
    ((guarded.has(namespace)
      ? include?.includes(namespace) === true
      : include === undefined || matchesGlob(namespace, include)) &&
      !matchesGlob(namespace, exclude));
}

/** How long the deletion of a resource by another runtime may take before it is reported here. */
const unservedLimitMs = 600_000;

/**
 * Tracks deletions that wait for our finalizer in namespaces that the definition does not serve. Another runtime may serve them, so nothing
 * is changed there. If none does, only an administrator can finish these deletions; they are reported.
 */
class UnservedDeletions {
  readonly #finalizer: string;
  /** By key, the start of the deletion in Unix ms. */
  readonly #since = new Map<string, number>();
  readonly #clock: Clock;
  readonly #onCount: () => void;
  #cancel: (() => void) | undefined;

  /** `onCount`: called when {@link count} may have changed. */
  constructor(finalizer: string, clock: Clock, onCount: () => void = () => undefined) {
    this.#finalizer = finalizer;
    this.#clock = clock;
    this.#onCount = onCount;
  }

  /** Processes an event of a namespace that is not served. */
  observe({ namespace, name, current }: CacheEvent): void {
    const { deletionTimestamp, finalizers } = current?.object.metadata ?? {};
    const key = keyOf(namespace, name);
    if (deletionTimestamp === undefined || finalizers?.includes(this.#finalizer) !== true) {
      if (this.#since.delete(key)) this.#onCount();
      return;
    }
    this.#since.set(key, Date.parse(deletionTimestamp));
    this.stop();
    this.#cancel = this.#clock.after(unservedLimitMs, this.#onCount);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Number of deletions that have waited longer than the limit. */
  count(nowMs: number): number {
    return Iterator.from(this.#since.values())
      .filter((sinceMs) => nowMs - sinceMs >= unservedLimitMs)
      .reduce((count) => count + 1, 0);
  }
}
