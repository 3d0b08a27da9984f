import type { ObjectRef } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** What an object is to be: an element of a child, or what a patch sets. */
export interface Intent {
  readonly ref: ObjectRef;
  /** For what is remembered of the object in one version of its kind. */
  readonly topic: string;
  /** Without the version: an object has one element that wants it. */
  readonly identity: string;
  /** Prepared, with our bookkeeping but for the annotation that holds {@link pathHash}; what is compared. */
  readonly manifest: KubeObject;
  readonly pathHash: string;
  /** The manifest with the fields that are left to others, where {@link manifest} is without them. */
  readonly whole?: KubeObject;
}
