import type { RefAt } from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** The desired state of an object: an element of a child, or the fields of a patch. */
export interface Intent {
  readonly ref: RefAt;
  /** Key of the object in any version of its kind: at most one element desires it. */
  readonly identity: string;
  /** The prepared manifest that is compared: with our labels and annotations, except the annotation with {@link pathHash}. */
  readonly manifest: KubeObject;
  readonly pathHash: string;
  /** The manifest including fields that are released to other managers. @default undefined: equals {@link manifest} */
  readonly fullManifest?: KubeObject;
  /** What a new object gets: also the fields that an existing one keeps (`fields.leave`). @default undefined: there are none */
  readonly creation?: Creation;
}

/** The manifest of a new object, and its hash. */
export interface Creation {
  readonly manifest: KubeObject;
  readonly pathHash: string;
}

/**
 * Do the fields of an object with this hash come from this intent? Those that an object got only when it was created do not leave it, so that
 * nothing needs to be applied.
 */
export function isAppliedHash(intent: Intent, applied: string | undefined): boolean {
  if (applied === undefined) return false;
  return applied === intent.pathHash || applied === intent.creation?.pathHash;
}

/** Do both desire the same state of the object? */
export function isSameIntent(a: Intent, b: Intent): boolean {
  return a.pathHash === b.pathHash && deepEqual(a.manifest, b.manifest);
}

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns whether this is a JSON object (not null, not a list). */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
