import type { ServerSilence } from '../kube/roles.ts';
import type { RefusedFile } from './refused-file.ts';

/** Where a definition stands, as data for health, logs and (later) its status. */
export type DefinitionState =
  /** Its CRD and its plan are being made; `message` says what it is at, or waits for. */
  | { readonly kind: 'starting'; readonly message: string }
  /** The kind that it works on (`for`) is not served; it starts by itself when that comes (`KindAvailable=False`). */
  | { readonly kind: 'waiting'; readonly message: string }
  /** Its informers list for the first time. */
  | { readonly kind: 'syncing' }
  | { readonly kind: 'running' }
  /** A decision, not a failure: a CRD that is not ours, fields that the server's schemas do not have. */
  | { readonly kind: 'refused'; readonly message: string; readonly diagnostics: readonly string[] }
  /** Something went wrong; it is tried again. */
  | { readonly kind: 'failing'; readonly message: string };

export interface DefinitionView {
  readonly name: string;
  readonly revision: string;
  /** Of the kind it serves. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly state: DefinitionState;
  /** Resources of the kind that it knows. */
  readonly instances: number;
  /** Objects that keep their children though the definition was edited so that they match no more. */
  readonly leftInPlace: number;
  /** Resources that wait for a worker. */
  readonly queued: number;
  /** What it watches and cannot: `Secret: ...forbidden...`. */
  readonly problems: readonly string[];
}

export interface RuntimeView {
  /** Undefined while the API server answers and lets us in. */
  readonly silence: ServerSilence | undefined;
  /** Has it been told to stop? */
  readonly isStopping: boolean;
  readonly definitions: readonly DefinitionView[];
  /** Files with mistakes beside those definitions. */
  readonly refused: readonly RefusedFile[];
  /** What is not done though everything runs: Events that may not be written, say. */
  readonly warnings: readonly string[];
}
