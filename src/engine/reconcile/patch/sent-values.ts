import { parseJson } from '#util/exact-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { onceAnnotationOf } from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import { annotateResource, editAnnotation } from '../resource/write-metadata.ts';
import type { PatchWithKind } from './patch-target.ts';

type PatchOnce = Pick<PatchWithKind, 'id'>;

/** Whether the patch has been sent for this value of `once`. */
export function isSentFor(pass: Pass, { id }: PatchOnce, value: string): boolean {
  return sentValues(pass)[id] === value;
}

/** Stores on the resource that the patch has been sent for this value. Returns the error, if any. */
export function markSent(
  pass: Pass,
  { id }: PatchOnce,
  value: string,
): Promise<Problem | undefined> {
  const sent = JSON.stringify({ ...sentValues(pass), [id]: value });
  return annotateResource(pass, { [onceAnnotationOf(pass.context.plan.name)]: sent });
}

/** The UID of the object that the patch is about to delete for this value; undefined: none is. */
export function startedFor(pass: Pass, { id }: PatchOnce, value: string): string | undefined {
  const started = sentValues(pass)[id];
  const prefix = startedText(value, '');
  return typeof started === 'string' && started.startsWith(prefix)
    ? started.slice(prefix.length)
    : undefined;
}

/**
 * Stores on the resource which object the patch deletes for this value: a later process deletes no other one.
 * @returns the error, if any, also if the resource is gone: then nothing may be deleted.
 */
export function markStarted(
  pass: Pass,
  { id }: PatchOnce,
  { value, uid }: { readonly value: string; readonly uid: string },
): Promise<Problem | undefined> {
  return editAnnotation(pass, {
    name: onceAnnotationOf(pass.context.plan.name),
    change: (stored) => JSON.stringify({ ...parseSent(stored), [id]: startedText(value, uid) }),
    setsFinalizer: false,
  });
}

function startedText(value: string, uid: string): string {
  return `${value} ${uid}`;
}

/** Digests of values, by patch. */
function sentValues({ context, resource, effects }: Pass): JsonObject {
  const { annotations } = (effects.updatedResource ?? resource).metadata;
  return parseSent(annotations?.[onceAnnotationOf(context.plan.name)]);
}

function parseSent(text = '{}'): JsonObject {
  try {
    const sent: unknown = parseJson(text);
    return isJsonObject(sent) ? (sent as JsonObject) : {};
  } catch {
    // Edited by another manager: no value counts as sent.
    return {};
  }
}
