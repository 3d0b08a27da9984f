import type { ObjectRef } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** The desired state of an object: an element of a child, or the fields of a patch. */
export interface Intent {
  readonly ref: ObjectRef;
  /** Key of stored results, for the object in one version of its kind. */
  readonly topic: string;
  /** Key without the version: at most one element desires an object. */
  readonly identity: string;
  /** The prepared manifest that is compared: with our labels and annotations, except the annotation with {@link pathHash}. */
  readonly manifest: KubeObject;
  readonly pathHash: string;
  /** The manifest including fields that are released to other managers. @default undefined: equals {@link manifest} */
  readonly fullManifest?: KubeObject;
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
