import type { KindSchema } from '../schema-source.ts';
import { type BuiltinTables, builtinTables } from './builtin-tables.ts';
import { type JsonSchema, referredComponent } from './json-schema.ts';
import { scalarComponent, scalarOf } from './scalar-type.ts';
import type { AnyType, SchemaType, StructField, StructType } from './schema-type.ts';

/** Where no schema says anything, null included. */
export const anyType: AnyType = { kind: 'any', builtIn: false, keepsNull: true, atomic: false };

/** A declared object without declared content. */
const freeFormType: AnyType = { ...anyType, keepsNull: false };
/** Raw JSON inside a typed object, replaced as a whole. */
const opaqueType: AnyType = { ...anyType, atomic: true };

/** Types that the server decodes into Go structs. Everything else is a custom resource and is stored as written. */
const builtInName = /^io\.k8s\.(api|apimachinery|apiextensions-apiserver|kube-aggregator)\./;
const opaqueName = /\.(RawExtension|FieldsV1|Patch|v1\.JSON)$/;
/** A schema, a list of them, or a plain value. */
const branchingName = /^(.+\.JSONSchemaProps)Or(Bool|Array|StringArray)$/;

/** Turns kinds' schemas into trees of types and remembers every component it has seen. */
export interface SchemaCompiler {
  /**
   * The type of a kind. Components are remembered by the identity of their schema objects, which must therefore not change,
   * and mean the same in every KindSchema that holds them. A component that is not there compiles to "anything".
   */
  compile(schema: KindSchema): SchemaType;
}

/** @param tables What OpenAPI does not tell of the server's version. */
export function createSchemaCompiler(tables: BuiltinTables = builtinTables): SchemaCompiler {
  const known = new WeakMap<object, SchemaType>();
  return {
    compile: (schema) =>
      new Compilation({ components: schema.components, tables, known }).component(schema.root),
  };
}

interface CompilationOptions {
  readonly components: KindSchema['components'];
  readonly tables: BuiltinTables;
  readonly known: WeakMap<object, SchemaType>;
}

/** One walk over the components of a kind. `owner` is the component in which a schema stands. */
class Compilation {
  readonly #components: KindSchema['components'];
  readonly #tables: BuiltinTables;
  readonly #known: WeakMap<object, SchemaType>;

  constructor({ components, tables, known }: CompilationOptions) {
    this.#components = components;
    this.#tables = tables;
    this.#known = known;
  }

  component(name: string): SchemaType {
    const schema = this.#components[name];
    if (schema === undefined) return anyType;
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    // Structs enter themselves before their fields are built, so they may be recursive; a reference that leads to itself without one means nothing.
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
      const branching = branchingName.exec(name);
      if (branching !== null)
        return { kind: 'branch', builtIn, either: this.component(branching[1] ?? '') };
    }
    return this.#build(schema, { name, builtIn, top: true });
  }

  #field(schema: JsonSchema, owner: Owner): SchemaType {
    const component = referredComponent(schema);
    if (component === undefined) return this.#build(schema, { ...owner, top: false });
    const type = this.component(component);
    const said = schema['x-kubernetes-map-type'];
    // The referring field overrules the type, both ways. The copy of a struct shares its fields, which may still be in the making.
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
    // The tables speak of components, not of objects declared inside them.
    const tables = builtIn && top ? this.#tables : undefined;
    const fields = new Map<string, StructField>();
    const struct: StructType = {
      kind: 'struct',
      builtIn,
      name,
      atomic: schema['x-kubernetes-map-type'] === 'atomic',
      fields,
      required: schema.required ?? [],
      open: schema['x-kubernetes-preserve-unknown-fields'] === true,
      zeros: new Set(tables?.zeroDropped[name]),
      defaults: plainRecord(tables?.defaults[name]),
      injected: plainRecord(tables?.injected[name]),
    };
    const component = this.#components[name];
    if (top && component !== undefined) this.#known.set(component, struct);
    for (const [key, field] of Object.entries(schema.properties ?? {})) {
      fields.set(key, {
        type: this.#field(field, owner),
        byDefault: field.default,
        keepsNull: field.nullable === true,
      });
    }
    return struct;
  }
}

interface Owner {
  readonly name: string;
  readonly builtIn: boolean;
  /** Is the schema the component itself? */
  readonly top: boolean;
}

/** A record that inherits nothing: fields may be called `constructor`. */
function plainRecord<T>(record: Readonly<Record<string, T>> = {}): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null), record);
}
