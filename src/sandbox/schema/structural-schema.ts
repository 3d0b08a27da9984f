import type { Json } from '../../util/json.ts';

/** A CRD's schema, as far as the server looks at it when it prunes, defaults and validates. */
export interface StructuralSchema {
  readonly type?: string;
  readonly format?: string;
  readonly default?: Json;
  readonly nullable?: boolean;
  readonly enum?: readonly Json[];
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** Fields that an object has without its schema saying so. */
export const objectHead: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** The schema of a field that is there by its name or by `additionalProperties`. */
export function schemaOfField(
  schema: StructuralSchema | undefined,
  name: string,
): StructuralSchema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Null where the schema does not allow it. */
export function isForbiddenNull(value: Json | undefined, schema: StructuralSchema | undefined) {
  return value === null && schema !== undefined && schema.nullable !== true;
}
