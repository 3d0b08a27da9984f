import { isJsonObject, type Json } from '../../util/json.ts';
import { isJsonList, type MutableJsonObject, setField } from '../json-fields.ts';
import {
  type FieldType,
  type ListShape,
  type MapShape,
  shapeOf,
  typeOfField,
} from './field-type.ts';
import { fieldElement, itemElement } from './path-element.ts';
import { isEmptySet, type PathSet } from './path-set.ts';

/**
 * The value without the members of a set. A map or list that becomes empty, and an atomic value with
 * something to remove below it, becomes null and keeps its key: so does the server's.
 */
export function removeItems(type: FieldType | undefined, value: Json, set: PathSet): Json {
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
