import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { MutableJsonObject } from '../json-fields.ts';
import { compareElements, type PathElement, parsePathElement } from './path-element.ts';
import { isEmptySet, type PathSet } from './path-set.ts';

/** The `fieldsV1` form of a set: a member that has children too carries `".": {}`. */
export function toFieldsV1(set: PathSet): JsonObject {
  return writeNode(set, false);
}

function writeNode(set: PathSet, isMember: boolean): JsonObject {
  const node: MutableJsonObject = isMember ? { '.': {} } : {};
  const steps = new Set([...set.members, ...set.children.keys()]);
  for (const step of [...steps].sort(compareElements)) {
    const child = set.children.get(step);
    if (child !== undefined && !isEmptySet(child)) {
      node[step] = writeNode(child, set.members.has(step));
    } else if (set.members.has(step)) node[step] = {};
  }
  return node;
}

/** @throws SyntaxError when a key holds broken JSON. */
export function fromFieldsV1(fields: Json | undefined): PathSet {
  const members = new Set<PathElement>();
  const children = new Map<PathElement, PathSet>();
  if (!isJsonObject(fields)) return { members, children };
  for (const [key, value] of Object.entries(fields)) {
    const step = key === '.' ? undefined : parsePathElement(key);
    if (step === undefined || !isJsonObject(value)) continue;
    const below = Object.keys(value).filter((name) => name !== '.');
    if (below.length === 0 || '.' in value) members.add(step);
    if (below.length > 0) children.set(step, fromFieldsV1(value));
  }
  return { members, children };
}
