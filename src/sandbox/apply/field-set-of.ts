import { isJsonObject, type Json } from '../../util/json.ts';
import { isJsonList } from '../json-fields.ts';
import {
  type FieldType,
  type ListShape,
  type MapShape,
  shapeOf,
  typeOfField,
} from './field-type.ts';
import { fieldElement, itemElement, type PathElement } from './path-element.ts';
import { type OpenPathSet, openPathSet, type PathSet } from './path-set.ts';

/**
 * The paths that somebody who says this value owns: leaves, atomic values, items of lists, keys of
 * maps; of a struct only what stands in it.
 */
export function fieldSetOf(type: FieldType, value: Json): PathSet {
  const set = openPathSet();
  collect(type, value, set);
  return set;
}

/** Collects what lies below a value and tells whether the value itself is a leaf. */
function collect(type: FieldType | undefined, value: Json, into: OpenPathSet): boolean {
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

function collectItems(list: ListShape, value: Json, into: OpenPathSet): boolean {
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
    // Of items that cannot be told apart nobody owns single fields.
    if (!twice.has(step)) descend({ type: list.item, value: value[index] ?? null, step, into });
    into.members.add(step);
  }
  return false;
}

function collectFields(map: MapShape, value: Json, into: OpenPathSet): boolean {
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
  readonly into: OpenPathSet;
}

function descend({ type, value, step, into }: Descent): boolean {
  const below = openPathSet();
  const isLeaf = collect(type, value, below);
  if (below.members.size > 0 || below.children.size > 0) into.children.set(step, below);
  return isLeaf;
}

function isNothing(value: Json): boolean {
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}
