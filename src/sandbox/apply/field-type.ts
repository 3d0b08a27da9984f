import { isJsonObject, type Json } from '#util/json.ts';
import { isJsonList } from '../json-fields.ts';

/** The type of a field or item, as the merge sees it: one to three shapes. The value selects one. */
export interface FieldType {
  readonly scalar: ScalarName | undefined;
  readonly list: ListShape | undefined;
  readonly map: MapShape | undefined;
}

export type ScalarName = 'string' | 'numeric' | 'boolean' | 'untyped';

export interface ListShape {
  /** The list is replaced as a whole; otherwise `keys` identify items, or their value when there are no keys (a set). */
  readonly atomic: boolean;
  readonly keys: readonly string[];
  readonly item: FieldType;
}

export interface MapShape {
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, MapField>;
  /** The type of undeclared fields; undefined = they are not allowed. */
  readonly others: FieldType | undefined;
}

export interface MapField {
  readonly type: FieldType;
  readonly byDefault: Json | undefined;
}

export type ShapeName = 'map' | 'list' | 'scalar';

/** The shape of a value of this type. Without a value, or when its shape is not allowed: the first shape of the type. */
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

/** The type of a field of a map; undefined = the field is not allowed. */
export function typeOfField(map: MapShape, name: string): FieldType | undefined {
  return map.fields.get(name)?.type ?? map.others;
}

/** Any value, replaced as a whole. */
export const atomicType: FieldType = recursiveType(true);

/** The type where there is no schema: maps merge by key, lists are replaced as a whole. */
export const deducedType: FieldType = recursiveType(false);

function recursiveType(isAtomicMap: boolean): FieldType {
  const type = { scalar: 'untyped' as const, list: undefined, map: undefined };
  const item = isAtomicMap ? type : atomicType;
  const list: ListShape = { atomic: true, keys: [], item };
  const map: MapShape = { atomic: isAtomicMap, fields: new Map(), others: type };
  return Object.assign(type, { list, map });
}
