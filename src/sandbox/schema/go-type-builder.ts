import type { Json, JsonObject } from '#util/json.ts';
import type { MergeComponents, MergeSchema } from '../apply/field-type-builder.ts';
import { type GoNames, goNamesOf, nullableFields } from './go-names.ts';

/** Optional fields that are not pointers, by component: their zero values are omitted. */
export type DroppedZeros = Readonly<Record<string, readonly string[]>>;

/** Builds the types of built-in kinds from their OpenAPI components, each component once. */
export class GoTypeBuilder {
  readonly #components: MergeComponents;
  readonly #droppedZeros: DroppedZeros;
  readonly #types = new Map<string, GoType>();

  constructor(components: MergeComponents, droppedZeros: DroppedZeros) {
    this.#components = components;
    this.#droppedZeros = droppedZeros;
  }

  /** The type of a component: `io.k8s.api.core.v1.ConfigMap`. */
  component(name: string): GoType {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const schema = this.#components[name] ?? {};
    const special = specialType(name, schema);
    if (special !== undefined) {
      this.#types.set(name, special);
      return special;
    }
    if (schema.properties === undefined) {
      const type = this.#schemaOrOther(name) ?? this.#typeOf(schema);
      this.#types.set(name, type);
      return type;
    }
    const type = new LazyGoStruct(name, () => this.#fieldsOf(name, schema));
    this.#types.set(name, type);
    return type;
  }

  #fieldsOf(component: string, { properties = {}, required = [] }: MergeSchema) {
    const fields = new Map<string, GoField>();
    const goNames = goNamesOf(component);
    const nullable = nullableFields(component);
    const dropped = new Set(this.#droppedZeros[component]);
    // Of the API's own types, all fields that are written as null are listed.
    const isListed = component.startsWith('io.k8s.api.');
    for (const [name, schema] of Object.entries(properties))
      fields.set(name, {
        order: fields.size,
        ...this.#field(schema, dropped.has(name)),
        ...goNames(name),
        dropsZero: dropped.has(name),
        writesNull:
          nullable.has(name) || (!isListed && required.includes(name) && isCollection(schema)),
      });
    return fields;
  }

  /** A schema in a CRD, or a boolean or list in its place. */
  #schemaOrOther(name: string): GoAny | undefined {
    const [, base = '', other = ''] = /^(.*\.JSONSchemaProps)Or(Bool|Array)$/.exec(name) ?? [];
    if (base === '') return undefined;
    return { kind: 'any', schema: this.component(base), allowsBool: other === 'Bool' };
  }

  #field(schema: MergeSchema, dropsZero: boolean): Pick<GoField, 'type' | 'defaultValue'> {
    const { default: declared } = schema;
    // A non-zero default number is set by the rules of a kind: a new Go struct does not have it.
    const isFilledIn =
      (typeof declared === 'number' && (declared !== 0 || dropsZero)) ||
      (declared === '' && dropsZero);
    const defaultValue = isFilledIn ? undefined : (declared as Json | undefined);
    return { type: this.#typeOf(schema), defaultValue };
  }

  #typeOf(schema: MergeSchema): GoType {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (ref !== undefined) return this.component(ref.slice(ref.lastIndexOf('/') + 1));
    switch (schema.type) {
      case 'array':
        return { kind: 'list', item: this.#typeOf(schema.items ?? {}) };
      case 'object':
        if (typeof schema.additionalProperties === 'object')
          return { kind: 'map', item: this.#typeOf(schema.additionalProperties) };
        return { kind: 'any' };
      case 'string':
        return scalar('string', schema.format === 'byte' ? 'bytes' : 'plain');
      case 'integer':
        return scalar(schema.format === 'int64' ? 'int64' : 'int32', 'plain');
      case 'number':
        return scalar('float64', 'plain');
      case 'boolean':
        return scalar('bool', 'plain');
      default:
        return { kind: 'any' };
    }
  }
}

/** Its fields are built when they are read: types may be recursive, and most are never used. */
class LazyGoStruct implements GoStruct {
  readonly kind = 'struct';
  readonly name: string;
  readonly goName: string;
  readonly canonical = new WeakSet<JsonObject>();
  readonly #build: () => GoStruct['fields'];
  #fields: GoStruct['fields'] | undefined;
  #alwaysWritten: GoStruct['alwaysWritten'] | undefined;

  constructor(component: string, build: () => GoStruct['fields']) {
    const [name = '', version = 'v1'] = component.split('.').reverse();
    this.name = name;
    this.goName = `${version}.${name}`;
    this.#build = build;
  }

  get fields(): GoStruct['fields'] {
    this.#fields ??= this.#build();
    return this.#fields;
  }

  get alwaysWritten(): GoStruct['alwaysWritten'] {
    this.#alwaysWritten ??= [...this.fields].filter(
      ([, { defaultValue, writesNull }]) => defaultValue !== undefined || writesNull,
    );
    return this.#alwaysWritten;
  }
}

function isCollection({ type, properties }: MergeSchema): boolean {
  return type === 'array' || (type === 'object' && properties === undefined);
}

function scalar(go: GoScalar['go'], format: GoScalar['format']): GoScalar {
  return { kind: 'scalar', go, format };
}

function specialType(name: string, schema: MergeSchema): GoType | undefined {
  if (schema.properties !== undefined) return undefined;
  if (name.endsWith('.meta.v1.Time')) return scalar('string', 'time');
  if (name.endsWith('.meta.v1.MicroTime')) return scalar('string', 'micro-time');
  if (name.endsWith('.api.resource.Quantity')) return scalar('string', 'quantity');
  if (name.endsWith('.intstr.IntOrString')) return scalar('string', 'int-or-string');
  return undefined;
}

/** The Go type of a value of a built-in kind, which determines how its JSON is decoded and encoded. */
export type GoType = GoScalar | GoList | GoMap | GoStruct | GoAny;

export interface GoScalar {
  readonly kind: 'scalar';
  readonly go: 'string' | 'uint8' | 'int32' | 'int64' | 'float64' | 'bool';
  readonly format: 'plain' | 'time' | 'micro-time' | 'bytes' | 'quantity' | 'int-or-string';
}

interface GoList {
  readonly kind: 'list';
  readonly item: GoType;
}

interface GoMap {
  readonly kind: 'map';
  readonly item: GoType;
}

export interface GoStruct {
  readonly kind: 'struct';
  /** As in messages: `ObjectMeta`. */
  readonly name: string;
  /** With its package: `v1.ObjectMeta`. */
  readonly goName: string;
  readonly fields: ReadonlyMap<string, GoField>;
  /** Fields that are encoded even when they are absent. */
  readonly alwaysWritten: readonly (readonly [string, GoField])[];
  /** Objects that decoding leaves unchanged. A write decodes its object up to four times and changes little in between. */
  readonly canonical: WeakSet<JsonObject>;
}

/** Any value, unchanged. */
interface GoAny {
  readonly kind: 'any';
  /** The type of objects, if they have one. */
  readonly schema?: GoType;
  /** For a value with a type for objects: booleans are allowed, otherwise lists. */
  readonly allowsBool?: boolean;
}

export interface GoField extends GoNames {
  /** The position of the field in its struct: fields are encoded in this order. */
  readonly order: number;
  readonly type: GoType;
  /** The zero value is omitted. */
  readonly dropsZero: boolean;
  /** The value when the field is absent, or zero where zeros are omitted. */
  readonly defaultValue: Json | undefined;
  /** A list or map that is encoded as null when it is empty. */
  readonly writesNull: boolean;
}

/** The name of the type in Go's messages. */
export function goTypeName(type: GoType): string {
  switch (type.kind) {
    case 'scalar':
      if (type.format === 'int-or-string') return 'int32';
      return type.format === 'bytes' ? '[]uint8' : type.go;
    case 'list':
      return `[]${goTypeName(type.item)}`;
    case 'map':
      return `map[string]${goTypeName(type.item)}`;
    case 'struct':
      return type.goName;
    case 'any':
      return 'interface {}';
  }
}
