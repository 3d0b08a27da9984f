import { deducedType, type FieldType, type MapShape, typeOfField } from './field-type.ts';
import type { PathElement } from './path-element.ts';
import {
  differenceWithChildren,
  insertPath,
  type MutablePathSet,
  mutablePathSet,
  type PathSet,
  union,
} from './path-set.ts';

/** The set, plus every ancestor that is a declared field of a struct. */
export function withNamedAncestors(type: FieldType | undefined, set: PathSet): PathSet {
  const members = new Set(set.members);
  const children = new Map<PathElement, PathSet>();
  for (const [step, child] of set.children) {
    if (isDeclared(type, step)) members.add(step);
    children.set(step, withNamedAncestors(typeBelow(type, step), child));
  }
  return { members, children };
}

function isDeclared(type: FieldType | undefined, step: PathElement): boolean {
  return step.startsWith('f:') && type?.map?.fields.has(step.slice(2)) === true;
}

function typeBelow(type: FieldType | undefined, step: PathElement): FieldType | undefined {
  if (!step.startsWith('f:')) return type?.list?.item;
  return type?.map && typeOfField(type.map, step.slice(2));
}

/**
 * Converts a set that was recorded under an older schema to the current one: where a value became atomic, its path replaces the
 * paths below it.
 */
export function fitSetToType(type: FieldType, set: PathSet): PathSet {
  const atomic = mutablePathSet();
  collectAtomic({ type, set, isWhole: false }, [], atomic);
  if (atomic.members.size === 0 && atomic.children.size === 0) return set;
  return union(differenceWithChildren(set, atomic), atomic);
}

interface SetAtType {
  readonly type: FieldType;
  readonly set: PathSet | undefined;
  /** The set contains the value as a whole. */
  readonly isWhole: boolean;
}

function collectAtomic(at: SetAtType, path: PathElement[], into: MutablePathSet): void {
  const { type, set, isWhole } = at;
  if (type.map !== undefined) {
    if (isDeducedMap(type.map)) return;
    if (isWhole || !type.map.atomic) collectBelow(at, path, into);
    else if (set !== undefined && hasMembers(set)) insertPath(into, path);
  } else if (type.scalar === undefined && type.list !== undefined) {
    if (isWhole || !type.list.atomic) collectBelow(at, path, into);
    else insertPath(into, path);
  }
}

function collectBelow({ type, set }: SetAtType, path: PathElement[], into: MutablePathSet): void {
  if (set === undefined) return;
  for (const step of new Set([...set.children.keys(), ...set.members])) {
    const below = type.map === undefined ? type.list?.item : fieldTypeAt(type.map, step);
    if (below === undefined) continue;
    const child = set.children.get(step);
    const isWhole = set.members.has(step) && child === undefined;
    path.push(step);
    collectAtomic({ type: below, set: child, isWhole }, path, into);
    path.pop();
  }
}

function fieldTypeAt(map: MapShape, step: PathElement): FieldType | undefined {
  return step.startsWith('f:') ? typeOfField(map, step.slice(2)) : map.others;
}

/** Free-form objects have no list types to convert. */
function isDeducedMap(map: MapShape): boolean {
  return map.others === deducedType && map.fields.size === 0;
}

function hasMembers(set: PathSet): boolean {
  return set.members.size > 0 || [...set.children.values()].some(hasMembers);
}
