import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { ConstructPlace, ImportReport } from '../import-report.ts';
import { type Marker, readField } from './markers.ts';

/** A structural schema while it is built. */
type Schema = Record<string, Json | undefined>;

interface SchemaContext {
  readonly report: ImportReport;
  /** Custom types by name, with their pointers. */
  readonly types: ReadonlyMap<string, { readonly value: unknown; readonly pointer: string }>;
  /** Types that contain the current one. */
  readonly within: readonly string[];
}

interface FieldSchema {
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Converts the fields of `schema.spec` with the custom types of `schema.types` to a structural schema. */
export function convertSimpleSchema(
  { spec, types }: { readonly spec: unknown; readonly types: unknown },
  report: ImportReport,
): JsonObject {
  const pointer = '/spec/schema/types';
  const named = isJsonObject(types) ? Object.entries(types) : [];
  const context: SchemaContext = {
    report,
    types: new Map(
      named.map(([name, value]) => [name, { value, pointer: pointerTo(pointer, name) }]),
    ),
    within: [],
  };
  for (const [name] of named)
    report.converted({
      name: `schema.types.${name}`,
      pointer: pointerTo(pointer, name),
      isKey: true,
    });
  const fields = isJsonObject(spec) ? spec : {};
  return structure(fields, { name: 'schema.spec', pointer: '/spec/schema/spec' }, context);
}

/** An object with fields. It defaults to an empty object if that gives its fields their defaults. */
function structure(fields: JsonObject, place: ConstructPlace, context: SchemaContext): Schema {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const at = { name: `${place.name}.${name}`, pointer: pointerTo(place.pointer, name) };
    const field = fieldSchema(value, at, context);
    if (field === undefined) continue;
    properties[name] = field.schema;
    if (field.isRequired) required.push(name);
  }
  const hasDefault = Object.values(properties).some((schema) => schema.default !== undefined);
  return {
    type: 'object',
    ...(hasDefault && required.length === 0 && { default: {} }),
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
  } as Schema;
}

function fieldSchema(
  value: unknown,
  place: ConstructPlace,
  context: SchemaContext,
): FieldSchema | undefined {
  if (isJsonObject(value)) return { schema: structure(value, place, context), isRequired: false };
  if (typeof value !== 'string') {
    context.report.leftOut(place, 'A field is a text such as "string", or a map of fields');
    return undefined;
  }
  const { type, markers, problem } = readField(value);
  const found = typeSchema(type, context);
  if (typeof found === 'string') {
    context.report.leftOut(place, found);
    return undefined;
  }
  const schema: Schema = { ...found.schema };
  let { isRequired } = found;
  for (const marker of markers) {
    if (marker.key === 'required') isRequired = marker.value === 'true';
    else if (!applyMarker(schema, marker))
      context.report.leftOut(
        { ...place, name: `${place.name} | ${marker.key}`, offset: marker.offset },
        `The marker "${marker.key}=${marker.value}" is not known for type "${type}"`,
      );
  }
  if (problem !== undefined)
    context.report.leftOut({ ...place, offset: problem.offset }, problem.message);
  context.report.converted(place);
  return { schema, isRequired };
}

const atomic: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  float: { type: 'number' },
  number: { type: 'number' },
  object: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
};

/** The schema of a type, or why there is none. */
function typeSchema(type: string, context: SchemaContext): FieldSchema | string {
  const known = atomic[type];
  if (known !== undefined) return { schema: known, isRequired: false };
  const [, prefix = '', rest = ''] = /^(\[\]|map\[string\])(.+)$/.exec(type) ?? [];
  if (prefix === '') return customType(type, context);
  const item = typeSchema(rest.trim(), context);
  if (typeof item === 'string') return item;
  const schema: Schema =
    prefix === '[]'
      ? { type: 'array', items: item.schema as JsonObject }
      : { type: 'object', additionalProperties: item.schema as JsonObject };
  return { schema, isRequired: false };
}

function customType(name: string, context: SchemaContext): FieldSchema | string {
  const found = context.types.get(name);
  if (found === undefined) return `There is no type "${name}"`;
  if (context.within.includes(name)) return `Type "${name}" contains itself`;
  const inner = { ...context, within: [...context.within, name] };
  const at = { name: `schema.types.${name}`, pointer: found.pointer };
  return fieldSchema(found.value, at, inner) ?? `Type "${name}" cannot be converted`;
}

/** Adds a marker to the schema. False: the marker is unknown, or does not fit the type. */
function applyMarker(schema: Schema, { key, value }: Marker): boolean {
  switch (key) {
    case 'default':
      return set(schema, 'default', literalOf(value, schema.type));
    case 'description':
    case 'pattern':
      return set(schema, key, value);
    case 'minimum':
    case 'maximum':
    case 'minLength':
    case 'maxLength':
    case 'minItems':
    case 'maxItems':
      return set(schema, key, literalOf(value, 'number'));
    case 'enum': {
      const values = value.split(',').map((each) => literalOf(each.trim(), schema.type));
      return values.includes(undefined) ? false : set(schema, 'enum', values as Json[]);
    }
    case 'validation':
      return addRule(schema, { rule: value, message: 'validation failed' });
    case 'immutable':
      return (
        value !== 'true' ||
        addRule(schema, { rule: 'self == oldSelf', message: 'field is immutable' })
      );
    case 'uniqueItems':
      return value !== 'true' || set(schema, 'x-kubernetes-list-type', 'set');
    case 'listType':
      return set(schema, 'x-kubernetes-list-type', value);
    case 'listMapKey': {
      const keys = schema['x-kubernetes-list-map-keys'];
      return set(schema, 'x-kubernetes-list-map-keys', [
        ...(Array.isArray(keys) ? keys : []),
        value,
      ]);
    }
    default:
      return false;
  }
}

function set(schema: Schema, field: string, value: Json | undefined): boolean {
  if (value === undefined) return false;
  schema[field] = value;
  return true;
}

function addRule(schema: Schema, rule: JsonObject): boolean {
  const rules = schema['x-kubernetes-validations'];
  return set(schema, 'x-kubernetes-validations', [...(Array.isArray(rules) ? rules : []), rule]);
}

/** The value of a marker in the type of its field. Undefined: it has another type. */
function literalOf(value: string, type: unknown): Json | undefined {
  if (type === 'string') return value;
  try {
    const parsed: unknown = JSON.parse(value);
    const wanted = type === 'integer' ? 'number' : type;
    if (wanted === 'array') return Array.isArray(parsed) ? parsed : undefined;
    if (wanted === 'object') return isJsonObject(parsed) ? parsed : undefined;
    return typeof parsed === wanted ? (parsed as Json) : undefined;
  } catch {
    return undefined;
  }
}
