import { isJsonObject, type Json } from '#util/json.ts';

/** A key of a Secret or ConfigMap in the namespace of the object that names it. */
export interface ValueSource {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  readonly key: string;
}

/** The source in a valid `…From` field. Pure. */
export function valueSourceOf(value: Json | undefined): ValueSource | undefined {
  if (!isJsonObject(value)) return undefined;
  const { secretKeyRef, configMapKeyRef } = value;
  const reference = secretKeyRef ?? configMapKeyRef;
  if (!isJsonObject(reference)) return undefined;
  return {
    kind: secretKeyRef === undefined ? 'ConfigMap' : 'Secret',
    name: String(reference.name),
    key: String(reference.key),
  };
}

export function sourceText({ kind, name, key }: ValueSource): string {
  return `key "${key}" of ${kind} "${name}"`;
}
