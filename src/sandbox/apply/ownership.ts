import { deepEqual } from '../../util/deep-equal.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import { type Comparison, compareValues, withoutFields } from './compare-values.ts';
import { conflictError } from './conflict-error.ts';
import { fieldSetOf } from './field-set-of.ts';
import type { FieldType } from './field-type.ts';
import { withNamedAncestors } from './fit-set.ts';
import type { ManagedSet, ManagerId, Managers } from './managed-fields.ts';
import { mergeValues } from './merge-values.ts';
import {
  difference,
  differenceWithChildren,
  emptyPathSet,
  intersection,
  isEmptySet,
  type PathSet,
  union,
} from './path-set.ts';
import { removeItems } from './remove-items.ts';

/** What the rules of ownership know of a kind. Conversion between versions changes nothing but the name. */
export interface OwnershipContext {
  /** The type of the kind in a version; undefined = that version is gone, and with it what was owned in it. */
  typeOf(apiVersion: string): FieldType | undefined;
  /** The version of the request. */
  readonly apiVersion: string;
  readonly type: FieldType;
  /** Fields that this endpoint must not own. */
  readonly resetFields: PathSet | undefined;
  /** A set as it reads under a type of today. */
  fit(type: FieldType, set: PathSet): PathSet;
}

export interface Write {
  readonly live: JsonObject;
  readonly managers: Managers;
  readonly self: ManagerId;
}

export interface Update extends Write {
  readonly next: JsonObject;
}

export interface Application extends Write {
  readonly config: JsonObject;
  readonly force: boolean;
  /** Paths that may be taken from others without force. */
  readonly mayTake?: PathSet;
}

/** Who owns what after a write that is no apply: what it changed belongs to the writer alone. */
export function ownersAfterUpdate(context: OwnershipContext, update: Update): Managers {
  const { apiVersion, type, resetFields } = context;
  const { live, next, self } = update;
  const managers = fitManagers(context, update.managers);
  const comparison = withoutFields(compareValues(type, live, next), resetFields);
  const force = true;
  const mayTake = emptyPathSet;
  takeFromOthers({ ...context, live, next, managers, self, force, mayTake, comparison });
  const own = managers.get(self)?.set ?? emptyPathSet;
  const changed = union(comparison.modified, comparison.added);
  const set = without(union(difference(own, comparison.removed), changed), resetFields);
  managers.delete(self);
  if (!isEmptySet(set)) managers.set(self, { set, apiVersion, applied: false, time: undefined });
  return managers;
}

export interface Applied {
  /** Undefined = the apply changed nothing. */
  readonly object: JsonObject | undefined;
  readonly managers: Managers;
}

/**
 * Merges a configuration into the live object, removes what its applier said before and says no
 * longer, and settles who owns what.
 * @throws ApplyError `conflict` when others own what would change, unless forced.
 */
export function applyConfig(context: OwnershipContext, apply: Application): Applied {
  const { apiVersion, type, resetFields } = context;
  const { live, config, self, force, mayTake = emptyPathSet } = apply;
  const managers = fitManagers(context, apply.managers);
  const last = managers.get(self);
  const said = without(fieldSetOf(type, config), resetFields);
  const set = last !== undefined && isSameSet(last.set, said) ? last.set : said;
  managers.set(self, { set, apiVersion, applied: true, time: last?.time });
  const merged = mergeValues(type, live, config) ?? {};
  const next = prune({ ...context, merged, managers, last, set }) as JsonObject;
  takeFromOthers({ ...context, live, next, managers, self, force, mayTake });
  if (isEmptySet(set)) managers.delete(self);
  return { object: deepEqual(live, next) ? undefined : next, managers };
}

function isSameSet(a: PathSet, b: PathSet): boolean {
  return isEmptySet(difference(a, b)) && isEmptySet(difference(b, a));
}

function without(set: PathSet, fields: PathSet | undefined): PathSet {
  return fields === undefined ? set : differenceWithChildren(set, fields);
}

/** The managers as they read under today's schema, without those of versions that are gone. */
function fitManagers(context: OwnershipContext, managers: Managers): Map<ManagerId, ManagedSet> {
  const fitted = new Map<ManagerId, ManagedSet>();
  for (const [id, managed] of managers) {
    const type = context.typeOf(managed.apiVersion);
    if (type !== undefined) fitted.set(id, { ...managed, set: context.fit(type, managed.set) });
  }
  return fitted;
}

interface Taking extends OwnershipContext {
  readonly live: JsonObject;
  readonly next: JsonObject;
  readonly managers: Map<ManagerId, ManagedSet>;
  readonly self: ManagerId;
  readonly force: boolean;
  readonly mayTake: PathSet;
  /** In the version of the request, where it is known. */
  readonly comparison?: Comparison;
}

/** Takes what changed from all others. @throws ApplyError `conflict` when there is something to take, unless forced. */
function takeFromOthers(taking: Taking): void {
  const { managers, self, force, mayTake } = taking;
  const comparisons = new Map<string, Comparison>();
  if (taking.comparison !== undefined) comparisons.set(taking.apiVersion, taking.comparison);
  const conflicts = new Map<ManagerId, PathSet>();
  for (const [id, managed] of managers) {
    if (id === self) continue;
    const { modified, added } = comparisonIn(taking, managed.apiVersion, comparisons);
    const taken = intersection(managed.set, union(modified, added));
    if (!isEmptySet(taken)) conflicts.set(id, taken);
  }
  if (!force) assertTakable(conflicts, mayTake);
  for (const [id, managed] of [...managers]) {
    if (id === self) continue;
    const { removed } = comparisonIn(taking, managed.apiVersion, comparisons);
    const kept = difference(managed.set, conflicts.get(id) ?? emptyPathSet);
    const set = difference(kept, removed);
    if (isEmptySet(set)) managers.delete(id);
    else managers.set(id, { ...managed, set });
  }
}

function assertTakable(conflicts: ReadonlyMap<ManagerId, PathSet>, mayTake: PathSet): void {
  const refused = new Map<ManagerId, PathSet>();
  for (const [id, set] of conflicts) {
    const rest = difference(set, mayTake);
    if (!isEmptySet(rest)) refused.set(id, rest);
  }
  if (refused.size > 0) throw conflictError(refused);
}

function comparisonIn(
  taking: Taking,
  apiVersion: string,
  known: Map<string, Comparison>,
): Comparison {
  const found = known.get(apiVersion);
  if (found !== undefined) return found;
  const type = taking.typeOf(apiVersion) ?? taking.type;
  const comparison = withoutFields(
    compareValues(type, taking.live, taking.next),
    taking.resetFields,
  );
  known.set(apiVersion, comparison);
  return comparison;
}

interface Pruning extends OwnershipContext {
  readonly merged: Json;
  readonly managers: Managers;
  /** What the applier owned before. */
  readonly last: ManagedSet | undefined;
  /** What it owns now. */
  readonly set: PathSet;
}

/**
 * Removes what the applier said last time and does not say now, unless somebody else owns it or
 * something under it. Three steps: take all of it away; put back what anybody owns; put back what
 * was not the applier's.
 */
function prune({ merged, managers, last, set, apiVersion, typeOf }: Pruning): Json {
  const type = last && typeOf(last.apiVersion);
  if (last === undefined || type === undefined || isEmptySet(last.set)) return merged;
  // The usual apply says all that it said before: nothing can go.
  if (last.apiVersion === apiVersion && isEmptySet(difference(last.set, set))) return merged;
  const lastSet = withNamedAncestors(type, last.set);
  let pruned = removeItems(type, merged, lastSet);
  for (const [apiVersion, owned] of ownedByVersion(managers, last.apiVersion)) {
    const versionType = typeOf(apiVersion);
    if (versionType === undefined) continue;
    const named = (set: PathSet) => withNamedAncestors(versionType, set);
    const keep = union(named(fieldSetOf(versionType, pruned)), named(owned));
    const gone = difference(named(fieldSetOf(versionType, merged)), keep);
    pruned = removeItems(versionType, merged, gone);
  }
  const rest = withNamedAncestors(type, fieldSetOf(type, pruned));
  const gone = difference(withNamedAncestors(type, fieldSetOf(type, merged)), rest);
  return removeItems(type, merged, intersection(gone, lastSet));
}

/** What anybody owns, by version, the given one first. */
function ownedByVersion(managers: Managers, first: string): ReadonlyMap<string, PathSet> {
  const owned = new Map<string, PathSet>([[first, emptyPathSet]]);
  for (const { apiVersion, set } of managers.values())
    owned.set(apiVersion, union(owned.get(apiVersion) ?? emptyPathSet, set));
  return owned;
}
