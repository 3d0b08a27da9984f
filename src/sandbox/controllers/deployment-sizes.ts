import type { StoredObject } from '../store/index.ts';
import { desiredOf, mostOf } from './deployment-annotations.ts';
import {
  byAge,
  isRecreate,
  maxUnavailableOf,
  specReplicas,
  statusCount,
  sum,
  surgeOf,
  wantedReplicas,
} from './deployment-spec.ts';

/** A Deployment and its ReplicaSets at one moment. */
export interface Rollout {
  readonly deployment: StoredObject;
  /** The one of the Deployment's template. */
  readonly newest: StoredObject | undefined;
  readonly others: readonly StoredObject[];
}

/** How many replicas ReplicaSets are to have. */
export type Sizes = ReadonlyMap<StoredObject, number>;

const nothing: Sizes = new Map();

/** Does the Deployment want another number of pods than when it last gave shares? */
export function isBeingScaled({ deployment, newest, others }: Rollout): boolean {
  return active(withNewest(others, newest)).some((set) => {
    const desired = desiredOf(set);
    return desired !== undefined && desired !== wantedReplicas(deployment);
  });
}

/** With how many replicas a newest ReplicaSet begins or goes on. */
export function sizeOfNewest({ deployment, newest, others }: Rollout): number {
  const wanted = wantedReplicas(deployment);
  const has = newest === undefined ? 0 : specReplicas(newest);
  if (isRecreate(deployment) || has >= wanted) return wanted;
  const room = wanted + surgeOf(deployment) - has - sum(others);
  return has + Math.max(Math.min(room, wanted - has), 0);
}

/**
 * Which of the others shrink in a rolling update. Those that are not available go first: they would only stand in
 * the way.
 */
export function shrinking({ deployment, newest, others }: Rollout): Sizes {
  const old = byAge(active(others));
  if (newest === undefined || old.length === 0) return nothing;
  const all = [...old, newest];
  const least = wantedReplicas(deployment) - maxUnavailableOf(deployment);
  const coming = specReplicas(newest) - statusCount(newest, 'availableReplicas');
  let room = sum(all) - least - coming;
  if (room <= 0) return nothing;
  const sizes = new Map(old.map((set) => [set, specReplicas(set)]));
  for (const set of old) {
    const idle = specReplicas(set) - statusCount(set, 'availableReplicas');
    const cut = Math.max(Math.min(room, idle), 0);
    room -= cut;
    sizes.set(set, specReplicas(set) - cut);
  }
  let surplus = sum(all, (set) => statusCount(set, 'availableReplicas')) - least;
  for (const set of old) {
    const size = sizes.get(set) ?? 0;
    const cut = Math.max(Math.min(surplus, size), 0);
    surplus -= cut;
    sizes.set(set, size - cut);
  }
  return new Map([...sizes].filter(([set, size]) => size !== specReplicas(set)));
}

/** How a Deployment that is scaled, or paused, shares its replicas out: nobody rolls out meanwhile. */
export function shares(rollout: Rollout): Sizes {
  const { deployment, newest, others } = rollout;
  const wanted = wantedReplicas(deployment);
  const [only, another] = active(withNewest(others, newest));
  if (another === undefined) {
    const set = only ?? newest ?? byAge(others).at(-1);
    const isThere = set === undefined || specReplicas(set) === wanted;
    return isThere ? nothing : new Map([[set, wanted]]);
  }
  if (newest !== undefined && isSaturated(newest, wanted))
    return new Map(active(others).map((set) => [set, 0]));
  return isRecreate(deployment) ? nothing : proportions(rollout);
}

/** Everybody gets what corresponds to their size, and the largest what is left over. */
function proportions({ deployment, newest, others }: Rollout): Sizes {
  const wanted = wantedReplicas(deployment);
  const limit = wanted === 0 ? 0 : wanted + surgeOf(deployment);
  const all = active(withNewest(others, newest));
  const toAdd = limit - sum(all);
  const sizes = new Map(all.map((set) => [set, specReplicas(set)]));
  const inTurn = bySize(all, toAdd);
  let added = 0;
  for (const set of inTurn) {
    const size = specReplicas(set);
    const before = mostOf(set) || statusCount(deployment) || 1;
    const fraction = wanted === 0 ? -size : roundAway((size * limit) / before) - size;
    const left = toAdd - added;
    const share = toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
    const given = toAdd === 0 || left === 0 ? 0 : share;
    added += given;
    sizes.set(set, size + given);
  }
  const [largest] = inTurn;
  if (largest !== undefined)
    sizes.set(largest, Math.max((sizes.get(largest) ?? 0) + toAdd - added, 0));
  return sizes;
}

/** The largest first; of equals the newest when they grow, the oldest when they shrink. */
function bySize(sets: readonly StoredObject[], toAdd: number): readonly StoredObject[] {
  const old = byAge(sets);
  const inAge = toAdd > 0 ? old.toReversed() : old;
  return inAge.toSorted((a, b) => specReplicas(b) - specReplicas(a));
}

function roundAway(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value));
}

function isSaturated(newest: StoredObject, wanted: number): boolean {
  const available = statusCount(newest, 'availableReplicas');
  return [specReplicas(newest), desiredOf(newest), available].every((count) => count === wanted);
}

export function active(sets: readonly StoredObject[]): readonly StoredObject[] {
  return sets.filter((set) => specReplicas(set) > 0);
}

function withNewest(
  others: readonly StoredObject[],
  newest: StoredObject | undefined,
): readonly StoredObject[] {
  return newest === undefined ? others : [...others, newest];
}
