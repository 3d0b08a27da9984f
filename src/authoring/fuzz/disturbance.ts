import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { AppliedChild } from './fuzz-cluster.ts';
import type { Action } from './history.ts';

/** What somebody does to a child. */
export interface Disturbance {
  readonly child: AppliedChild;
  /** JSON merge patch. Undefined: the child is deleted. */
  readonly merge?: JsonObject;
}

/** The disturbance of an action. Undefined: there is no such child, or it has no value to change. Pure. */
export function disturbanceOf(
  action: Extract<Action, { readonly child: number }>,
  children: readonly AppliedChild[],
): Disturbance | undefined {
  const child = children[action.child % Math.max(1, children.length)];
  if (child === undefined) return undefined;
  if (action.kind === 'deleteChild') return { child };
  const {
    apiVersion: _,
    kind: __,
    metadata: ___,
    ...content
  } = child.manifest as unknown as JsonObject;
  const values = valuesOf(content, []);
  const chosen = values[action.field % Math.max(1, values.length)];
  return chosen && { child, merge: mergePatch(chosen.path, changed(chosen.value)) };
}

interface FoundValue {
  readonly path: readonly string[];
  readonly value: string | number | boolean;
}

/** The values below maps. A merge patch cannot change an item of a list. */
function valuesOf(value: unknown, path: readonly string[]): readonly FoundValue[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return [{ path, value }];
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => valuesOf(each, [...path, name]));
}

function changed(value: FoundValue['value']): Json {
  if (typeof value === 'boolean') return !value;
  return typeof value === 'number' ? value + 1 : `${value}x`;
}

function mergePatch(path: readonly string[], value: Json): JsonObject {
  return path.reduceRight<Json>((below, name) => ({ [name]: below }), value) as JsonObject;
}
