import type { MergeComponents, MergeSchema } from '../apply/index.ts';

/** How a field of a built-in kind is patched. */
export interface PatchField {
  /** Lists are merged item by item, objects field by field; else a patch replaces them. */
  readonly isMerged: boolean;
  /** What tells items of a list from each other; empty = they are plain values. */
  readonly mergeKey: string;
  /** Of the field, or of the items of its list. */
  readonly schema: PatchSchema;
}

/** What a strategic merge patch knows of an object. */
export interface PatchSchema {
  /** For messages: `Deployment`. */
  readonly name: string;
  /** Undefined = the object has no such field. */
  field(name: string): PatchField | undefined;
}

/** Reads the strategies of a schema from OpenAPI. */
export function patchSchemaOf(components: MergeComponents, schema: MergeSchema): PatchSchema {
  const { name, whole } = resolve(components, schema);
  return {
    name,
    field(field) {
      const own = whole.properties?.[field] ?? additional(whole);
      return own === undefined ? undefined : patchField(components, own);
    },
  };
}

function patchField(components: MergeComponents, own: MergeSchema): PatchField {
  const strategies = (own['x-kubernetes-patch-strategy'] ?? '').split(',');
  const { whole } = resolve(components, own);
  const isList = whole.type === 'array';
  return {
    isMerged: isList ? strategies.includes('merge') : !strategies.includes('replace'),
    mergeKey: own['x-kubernetes-patch-merge-key'] ?? '',
    schema: patchSchemaOf(components, isList ? (whole.items ?? {}) : own),
  };
}

function additional({ additionalProperties }: MergeSchema): MergeSchema | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function resolve(components: MergeComponents, schema: MergeSchema) {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference === undefined) return { name: '', whole: schema };
  const component = reference.slice(reference.lastIndexOf('/') + 1);
  const name = component.slice(component.lastIndexOf('.') + 1);
  return { name, whole: components[component] ?? {} };
}
