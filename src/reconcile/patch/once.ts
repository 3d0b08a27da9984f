import type { PatchPlan } from '../../compile/index.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { Problem } from '../failure.ts';
import { onceAnnotationOf } from '../names.ts';
import type { Pass } from '../pass/pass.ts';
import { annotateResource } from '../resource/write-metadata.ts';

/** Whether the patch has been sent for this value of `once`. */
export function isSentFor(pass: Pass, { id }: PatchPlan, value: string): boolean {
  return sentValues(pass)[id] === value;
}

/** Stores on the resource that the patch has been sent for this value. Returns the error, if any. */
export function markSent(
  pass: Pass,
  { id }: PatchPlan,
  value: string,
): Promise<Problem | undefined> {
  const sent = JSON.stringify({ ...sentValues(pass), [id]: value });
  return annotateResource(pass, { [onceAnnotationOf(pass.context.plan.name)]: sent });
}

/** Digests of values, by patch. */
function sentValues({ context, resource, effects }: Pass): JsonObject {
  const { annotations } = (effects.updatedResource ?? resource).metadata;
  try {
    const sent: unknown = JSON.parse(annotations?.[onceAnnotationOf(context.plan.name)] ?? '{}');
    return isJsonObject(sent) ? (sent as JsonObject) : {};
  } catch {
    // Edited by another manager: no value counts as sent.
    return {};
  }
}
