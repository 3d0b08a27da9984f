import type { ChildPlan } from '#compile';
import { type FieldSteps, valueAtSteps, withFieldAt, withoutField } from '#util/field-path.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { isEmptyCollection } from '#util/zero-value.ts';
import type { Intent } from './intent.ts';
import { pathHash } from './path-hash.ts';

type LeavingPlan = Pick<ChildPlan, 'left' | 'type'>;

/**
 * An intent without the fields that an existing object keeps (`fields.leave`): they are neither compared nor applied, and a change of them
 * in the template is no change of the intent.
 */
export function withoutLeft({ left, type }: LeavingPlan, intent: Intent): Intent {
  if (left === undefined) return intent;
  const { manifest, pathHash: hash } = intent;
  const kept = without(manifest, left);
  if (kept === manifest) return intent;
  const creation = { manifest, pathHash: hash };
  return { ...intent, manifest: kept, pathHash: pathHash(kept, type), creation };
}

/** An intent for an existing object: with the left fields that the object lacks. Nothing has a value there that could be kept. */
export function withMissingFields(
  { left = [], type }: LeavingPlan,
  intent: Intent,
  live: KubeObject,
): Intent {
  const { creation } = intent;
  if (creation === undefined) return intent;
  const isMissing = (steps: FieldSteps) => isNothing(valueAtSteps(live, steps));
  if (!left.some((steps) => isMissing(steps) && isIn(creation.manifest, steps))) return intent;
  const manifest = without(
    creation.manifest,
    left.filter((steps) => !isMissing(steps)),
  );
  const { fullManifest = intent.manifest } = intent;
  return { ...intent, manifest, fullManifest, pathHash: pathHash(manifest, type) };
}

/**
 * What a new object gets.
 * @param before The object that it replaces: the new one keeps the left fields of it. @default undefined: it replaces none
 */
export function creationOf(
  { left = [] }: LeavingPlan,
  intent: Intent,
  before: KubeObject | undefined,
): Intent {
  const { creation } = intent;
  if (creation === undefined) return intent;
  let { manifest } = creation;
  for (const steps of left) {
    const value = before && valueAtSteps(before, steps);
    if (value !== undefined && isIn(manifest, steps))
      manifest = withFieldAt(manifest, steps, value);
  }
  const { fullManifest = intent.manifest } = intent;
  return { ...intent, manifest, fullManifest, pathHash: creation.pathHash };
}

/** A server returns an empty struct for one that is removed: `resources: {}`. */
function isNothing(value: unknown): boolean {
  return value === undefined || isEmptyCollection(value);
}

function isIn(manifest: KubeObject, steps: FieldSteps): boolean {
  return valueAtSteps(manifest, steps) !== undefined;
}

function without(manifest: KubeObject, fields: readonly FieldSteps[]): KubeObject {
  return fields.reduce<KubeObject>(withoutField, manifest);
}
