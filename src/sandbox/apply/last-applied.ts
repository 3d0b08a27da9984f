import { isJsonObject, type JsonObject } from '#util/json.ts';
import { inKeyOrder, objectField, stringField, withField } from '../json-fields.ts';
import { checkValue } from './check-value.ts';
import { compareValues } from './compare-values.ts';
import { fieldSetOf } from './field-set-of.ts';
import type { FieldType } from './field-type.ts';
import { difference, type PathSet, union } from './path-set.ts';

/** The annotation in which client-side apply stores the last applied configuration. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The fields that client-side apply wrote and that are unchanged since; undefined when there is no such annotation. */
export function allowedByLastApplied(
  type: FieldType,
  apiVersion: string,
  live: JsonObject,
): PathSet | undefined {
  const lastApplied = readLastApplied(live);
  if (lastApplied === undefined || stringField(lastApplied, 'apiVersion') !== apiVersion)
    return undefined;
  if (checkValue(type, lastApplied).length > 0) return undefined;
  const { modified, added, removed } = compareValues(type, lastApplied, live);
  const changed = union(union(modified, added), removed);
  return difference(fieldSetOf(type, lastApplied), changed);
}

function readLastApplied(live: JsonObject): JsonObject | undefined {
  const text = annotationOf(live);
  if (text === undefined || text === '') return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Updates the annotation of client-side apply, if the object has it. */
export function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  if (!annotationOf(object)) return object;
  const metadata = objectField(object, 'metadata') ?? {};
  const annotations = objectField(metadata, 'annotations') ?? {};
  const text = `${JSON.stringify(inKeyOrder(withoutAnnotation(config)))}\n`;
  const written = withField(annotations, lastAppliedAnnotation, text);
  return withField(object, 'metadata', withField(metadata, 'annotations', written));
}

function annotationOf(object: JsonObject): string | undefined {
  const annotations = objectField(objectField(object, 'metadata') ?? {}, 'annotations');
  return annotations && stringField(annotations, lastAppliedAnnotation);
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const metadata = objectField(config, 'metadata') ?? {};
  const annotations = objectField(metadata, 'annotations');
  if (annotations === undefined) return config;
  const rest = withField(annotations, lastAppliedAnnotation, undefined);
  const kept = Object.keys(rest).length === 0 ? undefined : rest;
  return withField(config, 'metadata', withField(metadata, 'annotations', kept));
}
