import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { isJsonList, type MutableJsonObject } from '../json-fields.ts';
import { type Comparison, compareValues, withoutFields } from './compare-values.ts';
import { conflictError } from './conflict-error.ts';
import { fieldSetOf } from './field-set-of.ts';
import {
  type FieldType,
  type ListShape,
  type MapShape,
  shapeOf,
  typeOfField,
} from './field-type.ts';
import { withNamedAncestors } from './fit-set.ts';
import type { ManagedSet, ManagerId, Managers } from './managed-fields.ts';
import { mergeValues } from './merge-values.ts';
import { fieldElement, itemElement } from './path-element.ts';
import {
  difference,
  differenceWithChildren,
  emptyPathSet,
  intersection,
  isEmptySet,
  type PathSet,
  union,
} from './path-set.ts';

/** What the ownership rules need from a kind. */
export interface OwnershipContext {
  /**
   * The type of the kind in a version; undefined = the kind has no such version, and ownership recorded in it is dropped.
   * @throws ApplyError `unknown-version`: the server cannot convert to it
   */
  typeOf(apiVersion: string): FieldType | undefined;
  /**
   * An object in another version; the same object when versions differ by name only.
   * @throws ApplyError `unconvertible`
   */
  convert(object: JsonObject, apiVersion: string): JsonObject;
  /** The version of the request. */
  readonly apiVersion: string;
  readonly type: FieldType;
  /** Fields that managers of this endpoint cannot own. */
  readonly resetFields: PathSet | undefined;
  /** Converts a set to the current type. */
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

interface ApplyOperation extends Write {
  readonly config: JsonObject;
  readonly force: boolean;
  /** Paths that may be taken from other managers without force. */
  readonly transferable?: PathSet;
}

/** The managers after a write that is not an apply: the writer alone owns what it changed. */
export function ownersAfterUpdate(context: OwnershipContext, update: Update): Managers {
  const { apiVersion, type, resetFields } = context;
  const { live, next, self } = update;
  const managers = fitManagers(context, update);
  const comparison = withoutFields(compareValues(type, live, next), resetFields);
  const force = true;
  const transferable = emptyPathSet;
  transferOwnership({ ...context, live, next, managers, self, force, transferable, comparison });
  const own = managers.get(self)?.set ?? emptyPathSet;
  const changed = union(comparison.modified, comparison.added);
  const set = without(union(difference(own, comparison.removed), changed), resetFields);
  managers.delete(self);
  if (!isEmptySet(set)) managers.set(self, { set, apiVersion, applied: false, time: undefined });
  return managers;
}

export interface ApplyResult {
  /** Undefined = the apply changed nothing. */
  readonly object: JsonObject | undefined;
  readonly managers: Managers;
}

/**
 * Merges a configuration into the live object, removes the fields that the applier no longer sets, and updates ownership.
 * @throws ApplyError `conflict` when other managers own fields that would change, unless forced.
 */
export function applyConfig(context: OwnershipContext, apply: ApplyOperation): ApplyResult {
  const { apiVersion, type, resetFields } = context;
  const { live, config, self, force, transferable = emptyPathSet } = apply;
  const managers = fitManagers(context, apply);
  const last = managers.get(self);
  const configured = without(fieldSetOf(type, config), resetFields);
  const set = last !== undefined && isSameSet(last.set, configured) ? last.set : configured;
  managers.set(self, { set, apiVersion, applied: true, time: last?.time });
  const merged = (mergeValues(type, live, config) ?? {}) as JsonObject;
  const next = prune({ ...context, merged, managers, last, set });
  transferOwnership({ ...context, live, next, managers, self, force, transferable });
  if (isEmptySet(set)) managers.delete(self);
  return { object: deepEqual(live, next) ? undefined : next, managers };
}

function isSameSet(a: PathSet, b: PathSet): boolean {
  return isEmptySet(difference(a, b)) && isEmptySet(difference(b, a));
}

function without(set: PathSet, fields: PathSet | undefined): PathSet {
  return fields === undefined ? set : differenceWithChildren(set, fields);
}

/** Converts the managers to the current schema and drops those of versions that the kind does not have. */
function fitManagers(context: OwnershipContext, { live, managers }: Write) {
  const fitted = new Map<ManagerId, ManagedSet>();
  for (const [id, managed] of managers) {
    const type = context.typeOf(managed.apiVersion);
    if (type === undefined) continue;
    // The server looks at the object in each version, also when nothing changes: the write fails with a conversion.
    inVersion(context, live, managed.apiVersion);
    fitted.set(id, { ...managed, set: context.fit(type, managed.set) });
  }
  return fitted;
}

/** An object of the request's version in another one. */
function inVersion(context: OwnershipContext, object: JsonObject, apiVersion: string): JsonObject {
  return apiVersion === context.apiVersion ? object : context.convert(object, apiVersion);
}

interface OwnershipTransfer extends OwnershipContext {
  readonly live: JsonObject;
  readonly next: JsonObject;
  readonly managers: Map<ManagerId, ManagedSet>;
  readonly self: ManagerId;
  readonly force: boolean;
  readonly transferable: PathSet;
  /** In the version of the request, if it is known already. */
  readonly comparison?: Comparison;
}

/** Removes changed fields from all other managers. @throws ApplyError `conflict` when there are such fields, unless forced. */
function transferOwnership(transfer: OwnershipTransfer): void {
  const { managers, self, force, transferable } = transfer;
  const comparisons = new Map<string, Comparison>();
  if (transfer.comparison !== undefined) comparisons.set(transfer.apiVersion, transfer.comparison);
  const conflicts = new Map<ManagerId, PathSet>();
  for (const [id, managed] of managers) {
    if (id === self) continue;
    const { modified, added } = comparisonIn(transfer, managed.apiVersion, comparisons);
    const conflicting = intersection(managed.set, union(modified, added));
    if (!isEmptySet(conflicting)) conflicts.set(id, conflicting);
  }
  if (!force) assertTransferable(conflicts, transferable);
  for (const [id, managed] of [...managers]) {
    if (id === self) continue;
    const { removed } = comparisonIn(transfer, managed.apiVersion, comparisons);
    const kept = difference(managed.set, conflicts.get(id) ?? emptyPathSet);
    const set = difference(kept, removed);
    if (isEmptySet(set)) managers.delete(id);
    else managers.set(id, { ...managed, set });
  }
}

function assertTransferable(
  conflicts: ReadonlyMap<ManagerId, PathSet>,
  transferable: PathSet,
): void {
  const blocked = new Map<ManagerId, PathSet>();
  for (const [id, set] of conflicts) {
    const rest = difference(set, transferable);
    if (!isEmptySet(rest)) blocked.set(id, rest);
  }
  if (blocked.size > 0) throw conflictError(blocked);
}

function comparisonIn(
  transfer: OwnershipTransfer,
  apiVersion: string,
  known: Map<string, Comparison>,
): Comparison {
  const found = known.get(apiVersion);
  if (found !== undefined) return found;
  const type = transfer.typeOf(apiVersion) ?? transfer.type;
  const live = inVersion(transfer, transfer.live, apiVersion);
  const next = inVersion(transfer, transfer.next, apiVersion);
  const comparison = withoutFields(compareValues(type, live, next), transfer.resetFields);
  known.set(apiVersion, comparison);
  return comparison;
}

interface Pruning extends OwnershipContext {
  readonly merged: JsonObject;
  readonly managers: Managers;
  /** The fields that the applier owned before. */
  readonly last: ManagedSet | undefined;
  /** The fields that the applier owns now. */
  readonly set: PathSet;
}

/**
 * Removes the fields that the applier set in its last apply and not in this one, unless another manager owns them or something
 * below them. Three steps, in the version of the last apply: remove all of them; restore fields that any manager owns; restore
 * fields that were not the applier's.
 */
function prune(pruning: Pruning): JsonObject {
  const { managers, last, set, apiVersion, typeOf, convert } = pruning;
  const type = last && typeOf(last.apiVersion);
  if (last === undefined || type === undefined || isEmptySet(last.set)) return pruning.merged;
  // Most applies set all fields of the previous one: then nothing is removed.
  if (last.apiVersion === apiVersion && isEmptySet(difference(last.set, set)))
    return pruning.merged;
  const to = (object: JsonObject, from: string, version: string) =>
    from === version ? object : convert(object, version);
  const merged = to(pruning.merged, apiVersion, last.apiVersion);
  const lastSet = withNamedAncestors(type, last.set);
  let pruned = {
    object: removeItems(type, merged, lastSet) as JsonObject,
    version: last.apiVersion,
  };
  for (const [version, owned] of ownedByVersion(managers, last.apiVersion)) {
    const versionType = typeOf(version);
    if (versionType === undefined) continue;
    const whole = to(merged, last.apiVersion, version);
    const rest = to(pruned.object, pruned.version, version);
    const named = (set: PathSet) => withNamedAncestors(versionType, set);
    const retained = union(named(fieldSetOf(versionType, rest)), named(owned));
    const removed = difference(named(fieldSetOf(versionType, whole)), retained);
    pruned = { object: removeItems(versionType, whole, removed) as JsonObject, version };
  }
  const kept = to(pruned.object, pruned.version, last.apiVersion);
  const rest = withNamedAncestors(type, fieldSetOf(type, kept));
  const removed = difference(withNamedAncestors(type, fieldSetOf(type, merged)), rest);
  const object = removeItems(type, merged, intersection(removed, lastSet)) as JsonObject;
  return to(object, last.apiVersion, apiVersion);
}

/** The fields that all managers own, by version, the given version first. */
function ownedByVersion(managers: Managers, first: string): ReadonlyMap<string, PathSet> {
  const owned = new Map<string, PathSet>([[first, emptyPathSet]]);
  for (const { apiVersion, set } of managers.values())
    owned.set(apiVersion, union(owned.get(apiVersion) ?? emptyPathSet, set));
  return owned;
}

/**
 * The value without the members of a set. A map or list that becomes empty, or an atomic value with something to remove below
 * it, becomes null and keeps its key, as on the server.
 */
function removeItems(type: FieldType | undefined, value: Json, set: PathSet): Json {
  if (type === undefined) return value;
  switch (shapeOf(type, value)) {
    case 'scalar':
      return value;
    case 'list':
      return type.list === undefined ? value : withoutItems(type.list, value, set);
    case 'map':
      return type.map === undefined ? value : withoutKeys(type.map, value, set);
  }
}

function withoutItems(list: ListShape, value: Json, set: PathSet): Json {
  if (list.atomic || !isJsonList(value)) return null;
  const kept: Json[] = [];
  for (const item of value) {
    const step = itemElement(list, item);
    if (!set.members.has(step)) kept.push(removeBelow(list.item, item, set.children.get(step)));
  }
  return kept.length === 0 ? null : kept;
}

function withoutKeys(map: MapShape, value: Json, set: PathSet): Json {
  if (map.atomic || !isJsonObject(value)) return null;
  const kept: MutableJsonObject = {};
  for (const [name, field = null] of Object.entries(value)) {
    const step = fieldElement(name);
    if (set.members.has(step)) continue;
    setField(kept, name, removeBelow(typeOfField(map, name), field, set.children.get(step)));
  }
  return Object.keys(kept).length === 0 ? null : kept;
}

function removeBelow(type: FieldType | undefined, value: Json, below: PathSet | undefined): Json {
  if (below === undefined || isEmptySet(below)) return value;
  return removeItems(type, value, below);
}
