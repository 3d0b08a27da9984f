import type { KindSchema } from '../schema-source.ts';
import { builtinTables } from './bundled-schemas.ts';
import type {
  AnyType,
  ScalarName,
  ScalarType,
  SchemaType,
  StructField,
  StructType,
} from './schema-type.ts';

/** The type without a schema; also accepts null. */
export const anyType: AnyType = { kind: 'any', builtIn: false, keepsNull: true, atomic: false };

/** An object without declared fields. */
const freeFormType: AnyType = { ...anyType, keepsNull: false };
/** Raw JSON in a typed object; an apply replaces the whole value. */
const opaqueType: AnyType = { ...anyType, atomic: true };

/** Components that the server decodes into Go structs. Others are custom resources, which it stores as written. */
const builtInName = /^io\.k8s\.(api|apimachinery|apiextensions-apiserver|kube-aggregator)\./;
const opaqueName = /\.(RawExtension|FieldsV1|Patch|v1\.JSON)$/;
/** A schema, a list of them, or a plain value. */
const schemaOrValueName = /^(.+\.JSONSchemaProps)Or(Bool|Array|StringArray)$/;

/** Compiles schemas of kinds to types and caches components. */
export interface SchemaCompiler {
  /**
   * The type of a kind. Components are cached by the identity of their schema objects, which must not change and must
   * have the same meaning in every KindSchema. A missing component compiles to the "any" type.
   */
  compile(schema: KindSchema): SchemaType;
}

export function createSchemaCompiler(): SchemaCompiler {
  const known = new WeakMap<object, SchemaType>();
  return {
    compile: ({ components, root }) => new Compilation(components, known).component(root),
  };
}

/** One traversal of the components of a kind. `owner` is the component that contains a schema. */
class Compilation {
  readonly #components: KindSchema['components'];
  readonly #known: WeakMap<object, SchemaType>;

  constructor(components: KindSchema['components'], known: WeakMap<object, SchemaType>) {
    this.#components = components;
    this.#known = known;
  }

  component(name: string): SchemaType {
    const schema = this.#components[name];
    if (schema === undefined) return anyType;
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    // A reference cycle without a struct is the "any" type.
    this.#known.set(schema, anyType);
    const type = this.#buildComponent(schema, name);
    this.#known.set(schema, type);
    return type;
  }

  #buildComponent(schema: JsonSchema, name: string): SchemaType {
    const builtIn = builtInName.test(name);
    if (builtIn && schema.properties === undefined) {
      const scalar = scalarComponent(name);
      if (scalar !== undefined) return scalar;
      if (opaqueName.test(name)) return opaqueType;
      const branching = schemaOrValueName.exec(name);
      if (branching !== null)
        return { kind: 'branch', builtIn, either: this.component(branching[1] ?? '') };
    }
    return this.#build(schema, { name, builtIn, top: true });
  }

  #field(schema: JsonSchema, owner: Owner): SchemaType {
    const component = referencedComponent(schema);
    if (component === undefined) return this.#build(schema, { ...owner, top: false });
    const type = this.component(component);
    const said = schema['x-kubernetes-map-type'];
    // The referring field overrides the type. The copy of a struct shares its fields.
    return said === undefined || !('atomic' in type)
      ? type
      : { ...type, atomic: said === 'atomic' };
  }

  #build(schema: JsonSchema, owner: Owner): SchemaType {
    const { builtIn } = owner;
    if (schema.type === 'array') {
      return {
        kind: 'list',
        builtIn,
        list: schema['x-kubernetes-list-type'] ?? 'atomic',
        keys: schema['x-kubernetes-list-map-keys'] ?? [],
        item: this.#field(schema.items ?? {}, owner),
        keepsNull: schema.items?.nullable === true,
      };
    }
    if (schema.properties !== undefined) return this.#struct(schema, owner);
    if (typeof schema.additionalProperties === 'object') {
      return {
        kind: 'map',
        builtIn,
        atomic: schema['x-kubernetes-map-type'] === 'atomic',
        item: this.#field(schema.additionalProperties, owner),
        keepsNull: schema.additionalProperties.nullable === true,
      };
    }
    if (schema.type === 'object' || schema['x-kubernetes-preserve-unknown-fields'])
      return schema['x-kubernetes-map-type'] === 'atomic'
        ? { ...freeFormType, atomic: true }
        : freeFormType;
    return scalarOf(schema, builtIn);
  }

  #struct(schema: JsonSchema, owner: Owner): StructType {
    const { name, builtIn, top } = owner;
    // The tables apply to components, not to objects declared inside them.
    const tables = builtIn && top ? builtinTables : undefined;
    const build = () => this.#fieldsOf(schema, owner);
    let fields: StructType['fields'] | undefined;
    return {
      kind: 'struct',
      builtIn,
      name,
      atomic: schema['x-kubernetes-map-type'] === 'atomic',
      // Built when they are read: structs may be recursive, and most are never used.
      get fields() {
        fields ??= build();
        return fields;
      },
      required: schema.required ?? [],
      open: schema['x-kubernetes-preserve-unknown-fields'] === true,
      droppedZeros: new Set(tables?.zeroDropped[name]),
      defaults: plainRecord(tables?.defaults[name]),
      injected: plainRecord(tables?.injected[name]),
    };
  }

  #fieldsOf(schema: JsonSchema, owner: Owner): StructType['fields'] {
    const fields = new Map<string, StructField>();
    for (const [key, field] of Object.entries(schema.properties ?? {}))
      fields.set(key, {
        type: this.#field(field, owner),
        defaultValue: field.default,
        keepsNull: field.nullable === true,
      });
    return fields;
  }
}

interface Owner {
  readonly name: string;
  readonly builtIn: boolean;
  /** Whether the schema is the component itself. */
  readonly top: boolean;
}

/** A record without a prototype, because fields may be named `constructor`. */
function plainRecord<T>(record: Readonly<Record<string, T>> = {}): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null), record);
}

/** Built-in components that are serialized as scalars, by name suffix. Their schemas do not show this. */
const scalarComponents: readonly [RegExp, Pick<ScalarType, 'accepts' | 'format'>][] = [
  [/\.api\.resource\.Quantity$/, { accepts: ['string', 'number'], format: 'quantity' }],
  [/\.meta\.v1\.(Micro)?Time$/, { accepts: ['string'], format: 'time' }],
  [/\.intstr\.IntOrString$/, { accepts: ['integer', 'string'], format: 'exact' }],
];

/** The scalar type of a built-in component, or undefined. */
function scalarComponent(name: string): ScalarType | undefined {
  const known = scalarComponents.find(([pattern]) => pattern.test(name));
  return known && { kind: 'scalar', builtIn: true, ...known[1] };
}

/** A schema without fields or items. */
function scalarOf(schema: JsonSchema, builtIn: boolean): ScalarType {
  return {
    kind: 'scalar',
    builtIn,
    accepts: acceptedBy(schema),
    // Custom resources keep base64 as written; Go decodes and re-encodes it.
    format: builtIn && schema.format === 'byte' ? 'base64' : 'exact',
    ...(schema.enum === undefined ? {} : { enum: schema.enum }),
  };
}

function acceptedBy(schema: JsonSchema): readonly ScalarName[] {
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string')
    return ['integer', 'string'];
  const own = scalarName(schema.type);
  if (own !== undefined) return [own];
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].map(({ type }) =>
    scalarName(type),
  );
  const names = new Set(alternatives.filter((name) => name !== undefined));
  return names.size === 0 ? ['unknown'] : [...names];
}

function scalarName(type: string | undefined): ScalarName | undefined {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean'
    ? type
    : undefined;
}

/**
 * The keywords of an OpenAPI v3 schema that determine comparison and coercion. Schemas come from an API server or a
 * validated CRD and are not validated again.
 */
export interface JsonSchema {
  readonly $ref?: string;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

/**
 * The component that a schema refers to, directly or through an `allOf` with one item. OpenAPI v3 uses `allOf` for a
 * reference with siblings such as `default`.
 */
function referencedComponent(schema: JsonSchema): string | undefined {
  const [only, ...others] = schema.allOf ?? [];
  const ref = schema.$ref ?? (others.length === 0 ? only?.$ref : undefined);
  return ref?.slice(ref.lastIndexOf('/') + 1);
}
