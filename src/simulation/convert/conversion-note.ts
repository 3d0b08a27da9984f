import type { KubeObject } from '../../util/kube-object.ts';

/** What the user should know or do about a manifest. */
export interface ConversionNote {
  readonly message: string;
  readonly hint?: string;
  /** Undefined: it is about all manifests. */
  readonly at?: {
    /** As it was given. */
    readonly object: KubeObject;
    /** JSON pointer in the object. */
    readonly pointer: string;
  };
}
