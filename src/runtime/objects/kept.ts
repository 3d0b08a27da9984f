import type { KubeObject } from '../../util/kube-object.ts';
import type { ToldDefinition } from './told-definitions.ts';

/** What has come of one object. */
export interface Kept {
  /** The text that it shows. Undefined: there is none. */
  readonly told?: ToldDefinition | undefined;
  /** As it is then. Undefined: there is none, or it is not ours to write. */
  readonly object?: KubeObject;
  /** It is looked at again after so long; where there is nothing to be told nothing is done before. */
  readonly waitMs?: number;
  /** Why it is not as it should be. */
  readonly trouble?: string;
}
