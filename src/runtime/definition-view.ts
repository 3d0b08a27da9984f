import type { ServerSilence } from '../kube/roles.ts';
import type { RefusedFile } from './refused-file.ts';
import type { DefinitionOrigin, Refusal } from './wanted-definition.ts';

/** Where a definition stands, as data for health, logs and (later) its status. */
export type DefinitionState =
  /** Its CRD and its plan are being made; `message` says what it is at, or waits for. */
  | { readonly kind: 'starting'; readonly message: string }
  /**
   * The kind that it works on (`for`) is not served; it starts by itself when that comes (`KindAvailable=False`). Of a follower: what the
   * process that leads has to bring about.
   */
  | { readonly kind: 'waiting'; readonly message: string }
  /** Its informers list for the first time. */
  | { readonly kind: 'syncing' }
  | { readonly kind: 'running' }
  /** A decision, not a failure: a CRD that is not ours, fields that the server's schemas do not have. */
  | { readonly kind: 'refused'; readonly message: string; readonly diagnostics: readonly string[] }
  /** Something went wrong; it is tried again. */
  | {
      readonly kind: 'failing';
      readonly message: string;
      /** A right is missing, which the message tells. @default undefined: something else */
      readonly isForbidden?: true;
    };

/** How a changed definition reaches the resources that are there. */
export interface RolloutView {
  /** Revisions. */
  readonly from: string;
  readonly to: string;
  /**
   * `previewing`: all resources are rendered with the new plan, nothing is written; `rolling`; `held`: it would delete more than
   * `maxDeletions` objects, none goes until that is approved (`DeletionsHeld`); `stopped`: too many resources failed with it.
   */
  readonly state: 'previewing' | 'rolling' | 'held' | 'stopped';
  readonly reached: number;
  readonly total: number;
  /** Objects that it deletes, as far as the preview can tell. */
  readonly deletions: number;
  /** For people. */
  readonly message: string;
}

export interface DefinitionView {
  readonly name: string;
  readonly revision: string;
  /** Of the kind it serves. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly state: DefinitionState;
  /** Resources of the kind that it knows. */
  readonly instances: number;
  /** Those of them that are ready. @default undefined: nobody has counted */
  readonly readyInstances?: number;
  /** Objects that keep their children though the definition was edited so that they match no more. */
  readonly leftInPlace: number;
  /** Resources that wait for a worker. */
  readonly queued: number;
  /** What it watches and cannot: `Secret: ...forbidden...`. */
  readonly problems: readonly string[];
  /** Of these, the rights that it or its resources miss. @default none */
  readonly missingRights?: readonly string[];
  /** Where its text stands. @default undefined: nobody says */
  readonly origin?: DefinitionOrigin;
  /** A newer text is refused, and this revision goes on. @default undefined */
  readonly refusal?: Refusal;
  /** A newer text is on its way to this: what is being done about it, or what it waits for. @default undefined: none is */
  readonly next?: { readonly revision: string; readonly message: string };
  /** It does nothing because a user wants it so. @default undefined */
  readonly isPaused?: true;
  /** It is being removed: what that waits for, for people (condition `Terminating`). @default undefined */
  readonly removal?: string;
  /** @default undefined: every resource has the revision */
  readonly rollout?: RolloutView;
}

export interface RuntimeView {
  /** Undefined while the API server answers and lets us in. */
  readonly silence: ServerSilence | undefined;
  /** Has it been told to stop? */
  readonly isStopping: boolean;
  readonly definitions: readonly DefinitionView[];
  /** Files with mistakes beside those definitions. */
  readonly refused: readonly RefusedFile[];
  /** The process that leads, while this one only waits to lead. @default undefined: this one leads, or nothing is known */
  readonly follows?: string;
  /** Sources of definitions of which nothing is known yet, and why where that can be told. @default none */
  readonly unread?: readonly string[];
  /** What is not done though everything runs: Events that may not be written, say. */
  readonly warnings: readonly string[];
}
