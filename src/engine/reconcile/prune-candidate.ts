import type { ObjectRef } from '#kube/roles.ts';

/** An object of a resource that is no longer desired. */
export interface PruneCandidate {
  readonly ref: ObjectRef;
  readonly uid: string;
  readonly childId: string;
  /** Its deletion loses data: it needs approval, whatever `maxDeletions` is. The title of the object for people. @default undefined: it holds none */
  readonly dataTitle?: string;
}
