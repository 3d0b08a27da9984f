import type { KubeObject } from '../../util/kube-object.ts';
import type { ToldDefinition } from './told-definitions.ts';

/** What has come of one object. */
export interface Kept {
  /** The text that it shows. Undefined: there is none. */
  readonly told?: ToldDefinition | undefined;
  /** As it is then. Undefined: there is none, or it is not ours to write. */
  readonly object?: KubeObject;
  /** It has to wait for so long. */
  readonly waitMs?: number;
  /** Why it is not as it should be. */
  readonly trouble?: string;
}
