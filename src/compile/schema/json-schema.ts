/** The keywords of an OpenAPI v3 schema that decide how values compare and fit. Documents come from an API server or a validated CRD and are trusted to have this shape. */
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

/** The component that a schema refers to, directly or through an `allOf` of one (OpenAPI v3 puts a reference there when it has siblings such as `default`). */
export function referredComponent(schema: JsonSchema): string | undefined {
  const [only, ...others] = schema.allOf ?? [];
  const ref = schema.$ref ?? (others.length === 0 ? only?.$ref : undefined);
  return ref?.slice(ref.lastIndexOf('/') + 1);
}
