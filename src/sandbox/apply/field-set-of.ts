import { isJsonObject, type Json } from '#util/json.ts';
import { isJsonList } from '../json-fields.ts';
import {
  type FieldType,
  type ListShape,
  type MapShape,
  shapeOf,
  typeOfField,
} from './field-type.ts';
import { fieldElement, itemElement, type PathElement } from './path-element.ts';
import { type MutablePathSet, mutablePathSet, type PathSet } from './path-set.ts';

/**
 * The paths that a manager owns when it sets this value: leaves, atomic values, list items, map keys. A struct contributes the
 * fields that are set.
 */
export function fieldSetOf(type: FieldType, value: Json): PathSet {
  const set = mutablePathSet();
  collect(type, value, set);
  return set;
}

/** Collects the paths below a value; returns whether the value itself is a leaf. */
function collect(type: FieldType | undefined, value: Json, into: MutablePathSet): boolean {
  if (type === undefined) return false;
  switch (shapeOf(type, value)) {
    case 'scalar':
      return true;
    case 'list':
      return type.list !== undefined && collectItems(type.list, value, into);
    case 'map':
      return type.map !== undefined && collectFields(type.map, value, into);
  }
}

function collectItems(list: ListShape, value: Json, into: MutablePathSet): boolean {
  if (list.atomic) return true;
  if (!isJsonList(value)) return false;
  const steps = value.map((item) => itemElement(list, item));
  const seen = new Set<PathElement>();
  const twice = new Set<PathElement>();
  for (const step of steps) {
    if (seen.has(step)) twice.add(step);
    seen.add(step);
  }
  for (const [index, step] of steps.entries()) {
    // No manager owns single fields of duplicate items.
    if (!twice.has(step)) descend({ type: list.item, value: value[index] ?? null, step, into });
    into.members.add(step);
  }
  return false;
}

function collectFields(map: MapShape, value: Json, into: MutablePathSet): boolean {
  if (map.atomic) return true;
  if (!isJsonObject(value)) return false;
  for (const [name, field = null] of Object.entries(value)) {
    const step = fieldElement(name);
    const isLeaf = descend({ type: typeOfField(map, name), value: field, step, into });
    if (isLeaf || isNothing(field) || !map.fields.has(name)) into.members.add(step);
  }
  return false;
}

interface Descent {
  readonly type: FieldType | undefined;
  readonly value: Json;
  readonly step: PathElement;
  readonly into: MutablePathSet;
}

function descend({ type, value, step, into }: Descent): boolean {
  const below = mutablePathSet();
  const isLeaf = collect(type, value, below);
  if (below.members.size > 0 || below.children.size > 0) into.children.set(step, below);
  return isLeaf;
}

function isNothing(value: Json): boolean {
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}
