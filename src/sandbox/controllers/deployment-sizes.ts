import type { JsonObject } from '#util/json.ts';
import { objectField, stringField, withField } from '../json-fields.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { partOf } from './controller-client.ts';
import {
  byAge,
  desiredReplicas,
  isRecreate,
  maxUnavailableOf,
  specReplicas,
  statusCount,
  sum,
  surgeOf,
} from './deployment-spec.ts';

/** A Deployment and its ReplicaSets at one moment. */
export interface Rollout {
  readonly deployment: StoredObject;
  /** The ReplicaSet of the Deployment's current template. */
  readonly newest: StoredObject | undefined;
  readonly old: readonly StoredObject[];
}

/** The desired replicas of ReplicaSets. */
export type Sizes = ReadonlyMap<StoredObject, number>;

const unchanged: Sizes = new Map();

/** Returns whether the desired replicas of the Deployment changed since they were last distributed. */
export function isBeingScaled({ deployment, newest, old }: Rollout): boolean {
  return active(withNewest(old, newest)).some((set) => {
    const desired = recordedReplicas(set);
    return desired !== undefined && desired !== desiredReplicas(deployment);
  });
}

/** The replicas of the newest ReplicaSet: when it is created, or in the next step of a rollout. */
export function newestSize({ deployment, newest, old }: Rollout): number {
  const replicas = desiredReplicas(deployment);
  const current = newest === undefined ? 0 : specReplicas(newest);
  if (isRecreate(deployment) || current >= replicas) return replicas;
  const capacity = replicas + surgeOf(deployment) - current - sum(old);
  return current + Math.max(Math.min(capacity, replicas - current), 0);
}

/** The old ReplicaSets to scale down in a rolling update. Unavailable pods are removed first: they would block the rollout. */
export function scaledDownSizes({ deployment, newest, old }: Rollout): Sizes {
  const activeOld = byAge(active(old));
  if (newest === undefined || activeOld.length === 0) return unchanged;
  const all = [...activeOld, newest];
  const minAvailable = desiredReplicas(deployment) - maxUnavailableOf(deployment);
  const unavailable = specReplicas(newest) - statusCount(newest, 'availableReplicas');
  let excess = sum(all) - minAvailable - unavailable;
  if (excess <= 0) return unchanged;
  const sizes = new Map(activeOld.map((set) => [set, specReplicas(set)]));
  for (const set of activeOld) {
    const idle = specReplicas(set) - statusCount(set, 'availableReplicas');
    const removed = Math.max(Math.min(excess, idle), 0);
    excess -= removed;
    sizes.set(set, specReplicas(set) - removed);
  }
  let availableExcess = sum(all, (set) => statusCount(set, 'availableReplicas')) - minAvailable;
  for (const set of activeOld) {
    const size = sizes.get(set) ?? 0;
    const removed = Math.max(Math.min(availableExcess, size), 0);
    availableExcess -= removed;
    sizes.set(set, size - removed);
  }
  return new Map([...sizes].filter(([set, size]) => size !== specReplicas(set)));
}

/** Distributes the replicas of a Deployment that is scaled or paused; no rollout progresses meanwhile. */
export function distributedSizes(rollout: Rollout): Sizes {
  const { deployment, newest, old } = rollout;
  const replicas = desiredReplicas(deployment);
  const [only, another] = active(withNewest(old, newest));
  if (another === undefined) {
    const set = only ?? newest ?? byAge(old).at(-1);
    const isUnchanged = set === undefined || specReplicas(set) === replicas;
    return isUnchanged ? unchanged : new Map([[set, replicas]]);
  }
  if (newest !== undefined && isSaturated(newest, replicas))
    return new Map(active(old).map((set) => [set, 0]));
  return isRecreate(deployment) ? unchanged : proportionalSizes(rollout);
}

/** Distributes replicas in proportion to size; the largest ReplicaSet gets the remainder. */
function proportionalSizes({ deployment, newest, old }: Rollout): Sizes {
  const replicas = desiredReplicas(deployment);
  const limit = replicas === 0 ? 0 : replicas + surgeOf(deployment);
  const all = active(withNewest(old, newest));
  const toAdd = limit - sum(all);
  const sizes = new Map(all.map((set) => [set, specReplicas(set)]));
  const sorted = bySize(all, toAdd);
  let added = 0;
  for (const set of sorted) {
    const size = specReplicas(set);
    const before = recordedMaxReplicas(set) || statusCount(deployment) || 1;
    const fraction = replicas === 0 ? -size : roundAway((size * limit) / before) - size;
    const left = toAdd - added;
    const share = toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
    const change = toAdd === 0 || left === 0 ? 0 : share;
    added += change;
    sizes.set(set, size + change);
  }
  const [largest] = sorted;
  if (largest !== undefined)
    sizes.set(largest, Math.max((sizes.get(largest) ?? 0) + toAdd - added, 0));
  return sizes;
}

/** The largest first; among equals the newest when scaling up, the oldest when scaling down. */
function bySize(sets: readonly StoredObject[], toAdd: number): readonly StoredObject[] {
  const activeOld = byAge(sets);
  const inAge = toAdd > 0 ? activeOld.toReversed() : activeOld;
  return inAge.toSorted((a, b) => specReplicas(b) - specReplicas(a));
}

function roundAway(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value));
}

function isSaturated(newest: StoredObject, replicas: number): boolean {
  const available = statusCount(newest, 'availableReplicas');
  return [specReplicas(newest), recordedReplicas(newest), available].every(
    (count) => count === replicas,
  );
}

export function active(sets: readonly StoredObject[]): readonly StoredObject[] {
  return sets.filter((set) => specReplicas(set) > 0);
}

function withNewest(
  old: readonly StoredObject[],
  newest: StoredObject | undefined,
): readonly StoredObject[] {
  return newest === undefined ? old : [...old, newest];
}

const revision = 'deployment.kubernetes.io/revision';
const history = 'deployment.kubernetes.io/revision-history';
const desired = 'deployment.kubernetes.io/desired-replicas';
const most = 'deployment.kubernetes.io/max-replicas';

/** Annotations of the Deployment that are not copied to its ReplicaSets. */
const own = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revision,
  history,
  desired,
  most,
]);

export function revisionOf(object: StoredObject): number {
  return Number(annotation(object, revision) ?? 0);
}

/** The replicas of the Deployment when it last scaled this ReplicaSet. */
function recordedReplicas(set: StoredObject): number | undefined {
  const text = annotation(set, desired);
  return text === undefined ? undefined : Number(text);
}

/** The maximum number of pods of the Deployment at that time. */
function recordedMaxReplicas(set: StoredObject): number | undefined {
  const text = annotation(set, most);
  return text === undefined ? undefined : Number(text);
}

/** The annotations of a ReplicaSet that record the desired and the maximum replicas of its Deployment. */
export function sizeAnnotations(deployment: StoredObject): Readonly<Record<string, string>> {
  const replicas = desiredReplicas(deployment);
  return { [desired]: String(replicas), [most]: String(replicas + surgeOf(deployment)) };
}

/** The annotations that the newest ReplicaSet gets from its Deployment, with the list of its earlier revisions. */
export function newestAnnotations(
  deployment: StoredObject,
  set: StoredObject | undefined,
  number: number,
): JsonObject {
  const annotations = objectField(partOf(deployment, 'metadata'), 'annotations') ?? {};
  const copied = Object.fromEntries(Object.entries(annotations).filter(([name]) => !own.has(name)));
  const before = set === undefined ? undefined : annotation(set, revision);
  if (set === undefined || before === undefined || Number(before) >= number)
    return { ...copied, ...(before === undefined ? { [revision]: String(number) } : {}) };
  const earlier = annotation(set, history);
  const list = earlier === undefined ? before : `${earlier},${before}`;
  return { ...copied, [revision]: String(number), [history]: list };
}

export function revisionAnnotation(number: number): JsonObject {
  return { [revision]: String(number) };
}

/** The object with these annotations added. */
export function withAnnotations(object: JsonObject, annotations: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  const all = { ...objectField(metadata, 'annotations'), ...annotations };
  if (Object.keys(all).length === 0) return object;
  return withField(object, 'metadata', { ...metadata, annotations: all });
}

function annotation(object: StoredObject, name: string): string | undefined {
  return stringField(objectField(partOf(object, 'metadata'), 'annotations') ?? {}, name);
}
