import { anyType, type ListType, type SchemaType } from '../../compile/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { appliedAnnotation } from '../names.ts';
import { type Fields, isFields } from './fields.ts';
import { keyValue } from './list-keys.ts';
import { PathHasher } from './path-hasher.ts';

/**
 * A hash of which fields an intent has, down to the leaves: fields and map keys by name, atomic lists by index, list-map items by their keys, set items by themselves.
 * It tells that a field left the intent, which a comparison of values cannot see. Of other values it knows nothing, so nothing of a Secret is in it;
 * the order of keys does not matter. The annotation that carries it is left out.
 * @param intent Prepared.
 * @returns 16 lower-case hex digits. Not cryptographic.
 */
export function pathHash(intent: KubeObject, type: SchemaType | undefined): string {
  const hasher = new PathHasher();
  addFields(intent, type ?? anyType, hasher);
  return hasher.digest();
}

function addValue(value: unknown, type: SchemaType, hasher: PathHasher): void {
  if (Array.isArray(value)) addItems(value, type, hasher);
  else if (isFields(value)) addFields(value, type, hasher);
  else hasher.leaf();
}

function addFields(fields: Fields, type: SchemaType, hasher: PathHasher): void {
  const known = type.kind === 'branch' ? type.either : type;
  let isEmpty = true;
  for (const key in fields) {
    isEmpty = false;
    if (key === appliedAnnotation) continue;
    hasher.enter(key);
    addValue(fields[key], fieldTypeOf(key, known), hasher);
    hasher.leave();
  }
  if (isEmpty) hasher.leaf();
}

function fieldTypeOf(key: string, type: SchemaType): SchemaType {
  if (type.kind === 'struct') return type.fields.get(key)?.type ?? anyType;
  return type.kind === 'map' ? type.item : anyType;
}

function addItems(items: readonly unknown[], type: SchemaType, hasher: PathHasher): void {
  if (items.length === 0) hasher.leaf();
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    enterItem(item, index, type, hasher);
    addValue(item, itemTypeOf(type), hasher);
    hasher.leave();
  }
}

function itemTypeOf(type: SchemaType): SchemaType {
  if (type.kind === 'list') return type.item;
  return type.kind === 'branch' ? type : anyType;
}

function enterItem(item: unknown, index: number, type: SchemaType, hasher: PathHasher): void {
  const list = type.kind === 'list' ? type.list : 'atomic';
  if (type.kind === 'list' && list === 'map' && isFields(item)) {
    hasher.enter(keyText(item, type));
  } else if (list === 'set') {
    hasher.enter(typeof item === 'object' ? JSON.stringify(item) : String(item));
  } else {
    hasher.enterIndex(index);
  }
}

/** Almost every list has one key. */
function keyText(item: Fields, list: ListType): string {
  let text = '';
  for (const key of list.keys) text += `${String(keyValue(item, key, list))}\u0000`;
  return text;
}
