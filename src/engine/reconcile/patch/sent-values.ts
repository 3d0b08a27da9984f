import type { RefAt } from '#kube/roles.ts';
import { parseJson } from '#util/exact-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { sha256Hex } from '#util/sha256.ts';
import { onceAnnotationOf } from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { identityOfRef } from '../identity.ts';
import type { Pass } from '../pass/pass.ts';
import { annotateResource, editAnnotation } from '../resource/write-metadata.ts';
import type { PatchWithKind } from './patch-target.ts';

/** By what the value of a patch is stored: its id; of one of several targets, also a digest of the target. */
export function sentKeyOf({ id, isList }: PatchWithKind, ref: RefAt): string {
  return isList ? elementKeyOf(id, identityOfRef(ref)) : id;
}

function elementKeyOf(id: string, identity: string): string {
  return `${id} ${sha256Hex(identity).slice(0, 16)}`;
}

/** Whether the patch with this key has been sent for this value of `once`. */
export function isSentFor(pass: Pass, key: string, value: string): boolean {
  return sentValues(pass)[key] === value;
}

/** Removes the values of the targets that a patch no longer has. Returns the error, if any. */
export async function forgetSent(
  pass: Pass,
  { id }: Pick<PatchWithKind, 'id'>,
  keys: ReadonlySet<string>,
): Promise<Problem | undefined> {
  const isOutdated = (key: string) => key.startsWith(`${id} `) && !keys.has(key);
  if (!Object.keys(sentValues(pass)).some(isOutdated)) return undefined;
  return editAnnotation(pass, {
    name: onceAnnotationOf(pass.context.plan.name),
    change(stored) {
      const left = Object.entries(parseSent(stored)).filter(([key]) => !isOutdated(key));
      return left.length === 0 ? undefined : JSON.stringify(Object.fromEntries(left));
    },
    setsFinalizer: false,
  });
}

/** Stores on the resource that the patch has been sent for this value. Returns the error, if any. */
export function markSent(pass: Pass, key: string, value: string): Promise<Problem | undefined> {
  const sent = JSON.stringify({ ...sentValues(pass), [key]: value });
  return annotateResource(pass, { [onceAnnotationOf(pass.context.plan.name)]: sent });
}

/** The UID of the object that the patch is about to delete for this value; undefined: none is. */
export function startedFor(pass: Pass, key: string, value: string): string | undefined {
  const started = sentValues(pass)[key];
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
  key: string,
  { value, uid }: { readonly value: string; readonly uid: string },
): Promise<Problem | undefined> {
  return editAnnotation(pass, {
    name: onceAnnotationOf(pass.context.plan.name),
    change: (stored) => JSON.stringify({ ...parseSent(stored), [key]: startedText(value, uid) }),
    setsFinalizer: false,
  });
}

function startedText(value: string, uid: string): string {
  return `${value} ${uid}`;
}

/** Digests of values, by key. */
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
