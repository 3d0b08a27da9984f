import type { ObjectRef, StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { AttemptLedger } from '../attempt/attempt-ledger.ts';
import type { OperatorContext } from './context.ts';

/** What is remembered of one resource between its passes. In memory only: losing it costs requests, never correctness. */
export interface ResourceState {
  readonly uid: string;
  /** What its passes have tried to write, by which the limiter decides what may be tried now. */
  readonly attempts: AttemptLedger;
  /** By identity of the object: what was deleted to be made anew, until it is. */
  readonly replaced: Map<string, ReplacedObject>;
  /** By identity: objects that no watch tells of though they may be the resource's own. */
  readonly strays: Map<string, Stray>;
  /**
   * Had the resource no finalizer of ours when this process first saw it, so that nothing without an owner reference was there?
   * Undefined before its first pass.
   */
  knowsBeginning: boolean | undefined;
  /** By identity, what this process has made without an owner reference: on record until the first report has it. */
  readonly made: Set<string>;
  /** Was it looked for what is on record and no watch shows? */
  isRecordRead: boolean;
  /** By child key: the failure that was last told in an Event. Undefined before the first pass: then the status says what was told. */
  told: ReadonlyMap<string, string> | undefined;
  /** Its deletion leaves what it owns where it is (`--cascade=orphan`). */
  isOrphaning: boolean;
  /** Since when its `onDelete.timeout` counts, wall clock. Undefined: nobody has tried to bring its deletion to an end so far. */
  endingSinceMs: number | undefined;
  /** What the last pass has said of `Ready`; undefined before the first. */
  isReady: boolean | undefined;
}

/** An object that was deleted to be made anew, as it was. */
export interface ReplacedObject {
  readonly childId: string;
  readonly stored: StoredObject;
}

/** An object whose creation was not answered, or that lost the label by which it is watched. */
export interface Stray {
  readonly ref: ObjectRef;
  /** Of the child that has made it. */
  readonly childId: string;
  /** Its creation was sent, and the answer is not there. @default false */
  readonly isUnanswered?: boolean;
  /** As it was when it left its watch. Undefined: nobody knows whether it is there. */
  readonly lost?: StoredObject;
}

/** A resource of which nothing is known yet. */
export function createResourceState(uid: string): ResourceState {
  return {
    uid,
    attempts: new AttemptLedger(),
    strays: new Map(),
    knowsBeginning: undefined,
    made: new Set(),
    isRecordRead: false,
    replaced: new Map(),
    told: undefined,
    isOrphaning: false,
    endingSinceMs: undefined,
    isReady: undefined,
  };
}

/** What is remembered of this very resource: of an earlier one of its name nothing. */
export function stateOf(
  { states }: OperatorContext,
  key: string,
  resource: KubeObject,
): ResourceState {
  const { uid = '' } = resource.metadata;
  const known = states.get(key);
  const state = known?.uid === uid ? known : createResourceState(uid);
  states.set(key, state);
  return state;
}
