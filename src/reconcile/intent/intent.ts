import type { ObjectRef } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** The desired state of an object: an element of a child, or the fields of a patch. */
export interface Intent {
  readonly ref: ObjectRef;
  /** Key of the object in any version of its kind: at most one element desires it. */
  readonly identity: string;
  /** The prepared manifest that is compared: with our labels and annotations, except the annotation with {@link pathHash}. */
  readonly manifest: KubeObject;
  readonly pathHash: string;
  /** The manifest including fields that are released to other managers. @default undefined: equals {@link manifest} */
  readonly fullManifest?: KubeObject;
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

/** `[]` or `{}`. */
export function isEmptyCollection(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** A zero value of Go: `""`, `0`, `false`, `[]`, `{}`. */
export function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || isEmptyCollection(value);
}
