import { isJsonObject, type Json } from '../../util/json.ts';
import { isJsonList } from '../json-fields.ts';

/** What a place of an object may hold, as the merge sees it: one to three shapes, of which the value picks one. */
export interface FieldType {
  readonly scalar: ScalarName | undefined;
  readonly list: ListShape | undefined;
  readonly map: MapShape | undefined;
}

export type ScalarName = 'string' | 'numeric' | 'boolean' | 'untyped';

export interface ListShape {
  /** Replaced as a whole; otherwise items are told apart by `keys`, or by their value when there are none (a set). */
  readonly atomic: boolean;
  readonly keys: readonly string[];
  readonly item: FieldType;
}

export interface MapShape {
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, MapField>;
  /** The type of fields that are not declared; undefined = there may be none. */
  readonly others: FieldType | undefined;
}

export interface MapField {
  readonly type: FieldType;
  readonly byDefault: Json | undefined;
}

export type ShapeName = 'map' | 'list' | 'scalar';

/** Which shape a value has at a place of this type; without a value, or with one of no allowed shape, the type's first. */
export function shapeOf(type: FieldType, value: Json | undefined): ShapeName {
  if (value !== undefined && value !== null) {
    if (isJsonList(value)) {
      if (type.list !== undefined) return 'list';
    } else if (isJsonObject(value)) {
      if (type.map !== undefined) return 'map';
    } else if (type.scalar !== undefined) return 'scalar';
  }
  if (type.map !== undefined) return 'map';
  return type.scalar === undefined ? 'list' : 'scalar';
}

/** The type of a field of a map; undefined = it is not allowed there. */
export function typeOfField(map: MapShape, name: string): FieldType | undefined {
  return map.fields.get(name)?.type ?? map.others;
}

/** Anything, replaced as a whole. */
export const atomicType: FieldType = recursiveType(true);

/** Where the schema says nothing: maps key by key, lists as a whole. */
export const deducedType: FieldType = recursiveType(false);

function recursiveType(isAtomicMap: boolean): FieldType {
  const type = { scalar: 'untyped' as const, list: undefined, map: undefined };
  const item = isAtomicMap ? type : atomicType;
  const list: ListShape = { atomic: true, keys: [], item };
  const map: MapShape = { atomic: isAtomicMap, fields: new Map(), others: type };
  return Object.assign(type, { list, map });
}
