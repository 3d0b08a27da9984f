import {
  type AnyType,
  anyType,
  type ListType,
  type MapType,
  type ScalarName,
  type ScalarType,
  type SchemaType,
  type StructType,
} from '#compile';
import type { JsonObject } from '#util/json.ts';

/** The type of a value whose type is not known before it is evaluated. */
export const unknownType: AnyType = anyType;
export const textType: ScalarType = scalar('string');
export const integerType: ScalarType = scalar('integer');
export const numberType: ScalarType = scalar('number');
export const booleanType: ScalarType = scalar('boolean');
export const mapType: MapType = mapOf(anyType);

export function listOf(item: SchemaType): ListType {
  return { kind: 'list', builtIn: false, list: 'atomic', keys: [], item };
}

export function mapOf(item: SchemaType): MapType {
  return { kind: 'map', builtIn: false, atomic: false, keepsNull: false, item };
}

function scalar(name: ScalarName): ScalarType {
  return { kind: 'scalar', builtIn: false, accepts: [name], format: 'exact' };
}

/** What the operators and functions of CEL distinguish. A value that is either a number or text is `unknown`. */
export type Shape = 'text' | 'number' | 'boolean' | 'list' | 'map' | 'unknown';

export function shapeOf(type: SchemaType): Shape {
  switch (type.kind) {
    case 'list':
      return 'list';
    case 'map':
    case 'struct':
      return 'map';
    case 'scalar':
      return scalarShape(type);
    default:
      return 'unknown';
  }
}

function scalarShape({ accepts, format }: ScalarType): Shape {
  if (format === 'quantity') return 'text';
  const shapes = new Set(accepts.map((name) => shapeByName[name]));
  const [shape = 'unknown'] = shapes;
  return shapes.size === 1 ? shape : 'unknown';
}

const shapeByName: Readonly<Record<ScalarName, Shape>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  unknown: 'unknown',
};

export function isInteger(type: SchemaType): boolean {
  return type.kind === 'scalar' && type.accepts.length === 1 && type.accepts[0] === 'integer';
}

/** The type of an item of a list, or of a value of a map. */
export function itemType(type: SchemaType): SchemaType {
  return type.kind === 'list' || type.kind === 'map' ? type.item : unknownType;
}

export interface FieldOfType {
  readonly type: SchemaType;
  /** The API server always sets it, where the object above it exists. */
  readonly isAlwaysSet: boolean;
  /** An integer that the API server leaves out when it is zero. */
  readonly isDroppedZero: boolean;
}

export function fieldOfType(type: SchemaType, name: string): FieldOfType {
  const unknown = { type: unknownType, isAlwaysSet: false, isDroppedZero: false };
  if (type.kind === 'map') return { ...unknown, type: type.item };
  const field = type.kind === 'struct' ? type.fields.get(name) : undefined;
  if (type.kind !== 'struct' || field === undefined) return unknown;
  return {
    type: field.type,
    isAlwaysSet: type.required.includes(name) || field.defaultValue !== undefined,
    isDroppedZero: type.droppedZeros.has(name) && isInteger(field.type),
  };
}

/** The structural schema of a status field with values of this type. */
export function schemaOfType(type: SchemaType): JsonObject {
  switch (type.kind) {
    case 'list':
      return { type: 'array', items: schemaOfType(type.item) };
    case 'map':
      return { type: 'object', additionalProperties: schemaOfType(type.item) };
    case 'struct':
      return structSchema(type);
    case 'scalar': {
      if (type.format === 'quantity' || shapeOf(type) === 'text') return { type: 'string' };
      const [only] = type.accepts;
      if (shapeOf(type) !== 'unknown') return { type: only ?? 'string' };
      return { 'x-kubernetes-preserve-unknown-fields': true };
    }
    default:
      return { 'x-kubernetes-preserve-unknown-fields': true };
  }
}

/** Fields of built-in kinds are many and change with the version of Kubernetes: they are kept as they are. */
function structSchema({ builtIn, open, fields }: StructType): JsonObject {
  if (builtIn || open) return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const properties = [...fields].map(([name, field]) => [name, schemaOfType(field.type)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}
