import { anyType, type SchemaType, type StructField } from '#compile';
import { isFields } from '#reconcile/intent/intent.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** A manifest of the corpus with one field in another spelling. */
export interface Variant {
  readonly manifest: KubeObject;
  /** `spec.replicas = 0`, `spec.replicas dropped`. */
  readonly what: string;
}

type Path = readonly (string | number)[];

/** What a variant may not touch: who the object is, and what is prepared away anyhow. */
const fixedFields = ['apiVersion', 'kind', 'metadata', 'status'];

/** Recursive schemas would go on for ever. */
const deepest = 14;

/**
 * Every field that the schema has, in every struct that the manifest has: set to zero, empty and null, and dropped.
 * Many of these a server rejects.
 */
export function* variantsOf(manifest: KubeObject, type: SchemaType): Generator<Variant> {
  for (const { path, field } of fieldsBelow(manifest, type, [])) {
    const name = path.join('.');
    for (const zero of zerosOf(field))
      yield { manifest: changed(manifest, path, zero), what: `${name} = ${JSON.stringify(zero)}` };
    if (valueAt(manifest, path) !== undefined)
      yield { manifest: changed(manifest, path, undefined), what: `${name} dropped` };
  }
}

interface Place {
  readonly path: Path;
  readonly field: StructField;
}

function* fieldsBelow(value: unknown, type: SchemaType, path: Path): Generator<Place> {
  if (path.length > deepest) return;
  if (type.kind === 'struct' && isFields(value)) {
    for (const [key, field] of type.fields) {
      if (path.length === 0 && fixedFields.includes(key)) continue;
      yield { path: [...path, key], field };
      yield* fieldsBelow(value[key], field.type, [...path, key]);
    }
  } else if (Array.isArray(value) || isFields(value)) {
    const itemType = type.kind === 'list' || type.kind === 'map' ? type.item : anyType;
    for (const [key, item] of Object.entries(value))
      yield* fieldsBelow(item, itemType, [...path, key]);
  }
}

function zerosOf({ type }: StructField): readonly unknown[] {
  if (type.kind === 'list') return [[], null];
  if (type.kind !== 'scalar') return [{}, null];
  const zeros: Readonly<Record<string, readonly unknown[]>> = {
    string: [''],
    integer: [0],
    number: [0],
    boolean: [false, true],
  };
  return [...type.accepts.flatMap((name) => zeros[name] ?? []), null];
}

function changed(manifest: KubeObject, path: Path, value: unknown): KubeObject {
  const copy = structuredClone(manifest);
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>;
  const last = String(path.at(-1));
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], root);
}
