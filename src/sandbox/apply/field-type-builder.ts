import type { Json } from '#util/json.ts';
import {
  atomicType,
  deducedType,
  type FieldType,
  type ListShape,
  type MapField,
  type MapShape,
  type ScalarName,
} from './field-type.ts';

/** The keywords of an OpenAPI v3 schema that the merge reads. */
export interface MergeSchema {
  readonly $ref?: string;
  readonly allOf?: readonly MergeSchema[];
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, MergeSchema>>;
  readonly additionalProperties?: MergeSchema | boolean;
  readonly required?: readonly string[];
  readonly items?: MergeSchema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

export type MergeComponents = Readonly<Record<string, MergeSchema>>;

/** A type that is built when it is read: components may refer to themselves, and most are never used. */
class LazyFieldType implements FieldType {
  readonly #build: () => FieldType;
  #built: FieldType | undefined;

  constructor(build: () => FieldType) {
    this.#build = build;
  }

  get scalar(): ScalarName | undefined {
    return this.#type.scalar;
  }

  get list(): ListShape | undefined {
    return this.#type.list;
  }

  get map(): MapShape | undefined {
    return this.#type.map;
  }

  get #type(): FieldType {
    this.#built ??= this.#build();
    return this.#built;
  }
}

/**
 * Converts OpenAPI components to field types. Each component is built once and shared. One builder serves all kinds of a set of
 * components, which must not change.
 */
export class FieldTypeBuilder {
  readonly #components: MergeComponents;
  readonly #types = new Map<string, FieldType>();

  constructor(components: MergeComponents) {
    this.#components = components;
  }

  /** Returns the type of a schema, which may refer to components. */
  typeOf(schema: MergeSchema): FieldType {
    return this.#refer(schema, false);
  }

  #refer(schema: MergeSchema, keepsUnknown: boolean): FieldType {
    const name = referredName(schema);
    if (name === undefined) return this.#shapes(schema, keepsUnknown);
    const type = this.#component(name);
    const mapType = schema['x-kubernetes-map-type'];
    return mapType === undefined ? type : withMapType(type, mapType === 'atomic');
  }

  #component(name: string): FieldType {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const type = new LazyFieldType(() => this.#componentShapes(name));
    this.#types.set(name, type);
    return type;
  }

  #componentShapes(name: string): FieldType {
    if (name.endsWith('api.resource.Quantity')) return scalarType('untyped');
    if (name.endsWith('runtime.RawExtension')) return atomicType;
    return this.#shapes(this.#components[name] ?? {}, false);
  }

  #shapes(schema: MergeSchema, parentKeepsUnknown: boolean): FieldType {
    const keepsUnknown =
      parentKeepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true;
    switch (schema.type) {
      case undefined: {
        const list = this.#list(schema, keepsUnknown);
        return { scalar: 'untyped', list, map: this.#map(schema, keepsUnknown) };
      }
      case 'object':
        return { scalar: undefined, list: undefined, map: this.#map(schema, keepsUnknown) };
      case 'array':
        return { scalar: undefined, list: this.#list(schema, keepsUnknown), map: undefined };
      case 'integer':
      case 'number':
        return scalarType('numeric');
      case 'boolean':
        return scalarType('boolean');
      default:
        // The server parses a string with a format to another type, such as a time or an IP address.
        return scalarType(
          schema.format === undefined || schema.format === 'byte' ? 'string' : 'untyped',
        );
    }
  }

  #map(schema: MergeSchema, keepsUnknown: boolean): MapShape {
    const fields = new Map<string, MapField>();
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const type = this.#refer(field, keepsUnknown);
      fields.set(name, { type, byDefault: field.default as Json | undefined });
    }
    const atomic = schema['x-kubernetes-map-type'] === 'atomic';
    return { atomic, fields, others: this.#others(schema, keepsUnknown) };
  }

  #others(schema: MergeSchema, keepsUnknown: boolean): FieldType | undefined {
    const { additionalProperties, properties = {} } = schema;
    if (typeof additionalProperties === 'object')
      return this.#refer(additionalProperties, keepsUnknown);
    if (additionalProperties === false) return undefined;
    if (additionalProperties === true || keepsUnknown) return deducedType;
    return Object.keys(properties).length === 0 ? deducedType : undefined;
  }

  #list(schema: MergeSchema, keepsUnknown: boolean): ListShape {
    const item = schema.items === undefined ? atomicType : this.#refer(schema.items, keepsUnknown);
    const kind = schema['x-kubernetes-list-type'];
    const keys = kind === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
    return { atomic: kind !== 'map' && kind !== 'set', keys, item };
  }
}

/** The referring field may override how a map merges. */
function withMapType(type: FieldType, atomic: boolean): FieldType {
  return new LazyFieldType(() => {
    const { scalar, list, map } = type;
    return { scalar, list, map: map && { ...map, atomic } };
  });
}

function scalarType(scalar: ScalarName): FieldType {
  return { scalar, list: undefined, map: undefined };
}

function referredName(schema: MergeSchema): string | undefined {
  const [only, ...others] = schema.allOf ?? [];
  const ref = schema.$ref ?? (others.length === 0 ? only?.$ref : undefined);
  return ref?.slice(ref.lastIndexOf('/') + 1);
}
