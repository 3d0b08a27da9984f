import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { isJsonList, type MutableJsonObject, setField } from '../json-fields.ts';
import {
  isForbiddenNull,
  objectHead,
  type StructuralSchema,
  schemaOfField,
} from './structural-schema.ts';

export interface Pruned {
  readonly object: JsonObject;
  /** Paths of what was removed because no schema knows it, sorted. */
  readonly unknownFields: readonly string[];
}

/** A custom resource without fields that its schema does not know; apiVersion, kind and metadata are not looked at. */
export function pruneObject(schema: StructuralSchema, object: JsonObject): Pruned {
  const unknown: string[] = [];
  const root = { ...schema, 'x-kubernetes-embedded-resource': true };
  const pruned = pruneValue({ schema: root, value: object, path: '' }, unknown);
  return { object: pruned as JsonObject, unknownFields: unknown.sort() };
}

interface Place {
  readonly schema: StructuralSchema | undefined;
  readonly value: Json;
  readonly path: string;
}

function pruneValue({ schema, value, path }: Place, unknown: string[]): Json {
  if (isJsonList(value)) {
    const keeps = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
    if (keeps && schema?.items === undefined) return value;
    return value.map((item, index) =>
      pruneValue({ schema: schema?.items, value: item, path: `${path}[${index}]` }, unknown),
    );
  }
  return isJsonObject(value) ? pruneFields({ schema, value, path }, unknown) : value;
}

function pruneFields(place: Place & { readonly value: JsonObject }, unknown: string[]): JsonObject {
  const { schema, value, path } = place;
  const kept: MutableJsonObject = {};
  for (const [name, field = null] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const isHead = schema?.['x-kubernetes-embedded-resource'] === true && objectHead.has(name);
    const known = isHead ? undefined : schemaOfField(schema, name);
    if (known !== undefined)
      setField(kept, name, pruneValue({ schema: known, value: field, path: at }, unknown));
    else if (isHead || schema?.['x-kubernetes-preserve-unknown-fields'] === true)
      setField(kept, name, field);
    else if (schema?.additionalProperties === true)
      setField(kept, name, pruneValue({ schema: undefined, value: field, path: at }, unknown));
    else unknown.push(at);
  }
  return kept;
}

/** Without nulls that neither their schema allows nor a default replaces. */
export function dropNulls(schema: StructuralSchema | undefined, value: Json): Json {
  if (isJsonList(value)) return value.map((item) => dropNulls(schema?.items, item));
  if (!isJsonObject(value)) return value;
  const kept: MutableJsonObject = {};
  for (const [name, field = null] of Object.entries(value)) {
    const known = schemaOfField(schema, name);
    if (isForbiddenNull(field, known) && known?.default === undefined) continue;
    setField(kept, name, dropNulls(known, field));
  }
  return kept;
}
