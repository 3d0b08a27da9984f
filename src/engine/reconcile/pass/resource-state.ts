import type { RefAt, StoredObject } from '#kube/roles.ts';
import type { CronSchedule } from '#util/cron.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { WriteResponses } from '../intent/write-responses.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { OperatorContext } from './context.ts';
import { TimeChanges } from './time-changes.ts';

/** The state of one resource between its passes. In memory only: losing it costs requests, never correctness. */
export interface ResourceState {
  readonly uid: string;
  /** What waits until a time. */
  readonly ledger: Ledger;
  /** What the server has made of its writes. */
  readonly responses: WriteResponses;
  /** Number of consecutive reports that were left to the following pass. */
  supersededReports: number;
  /** By identity: objects that were deleted to be recreated, until they are. */
  readonly replaced: Map<string, ReplacedObject>;
  /** By identity: the last states of children that may have finished and were deleted, until a pass handles them. */
  readonly removed: Map<string, StoredObject>;
  /** By identity: objects that no informer has, though they may be children of the resource. */
  readonly untracked: Map<string, UntrackedChild>;
  /**
   * Was our finalizer missing when this process first observed the resource? Then no children without an owner reference existed.
   * Undefined before the first pass.
   */
  hadNoFinalizer: boolean | undefined;
  /** Identities of the objects that this process created without an owner reference: a supplement to the inventory until the first report. */
  readonly created: Set<string>;
  /** Were inventory entries that no informer has looked up? */
  isInventoryChecked: boolean;
  /** By child key: the last failure that an Event reported. Undefined before the first pass: then the status has them. */
  reportedFailures: ReadonlyMap<string, string> | undefined;
  /** What the last Event about a wait reported. Empty: it does not wait. */
  reportedWait: string;
  /** Texts of Events on a resource of a kind of `for` that this process emitted. */
  readonly emitted: Set<string>;
  /** Its deletion orphans its dependents (`--cascade=orphan`). */
  isOrphaning: boolean;
  /** Start of its `onDelete.timeout`, wall clock. Undefined: no process has tried its deletion yet. */
  finalizingSinceMs: number | undefined;
  /** The last reported status of `Ready`; undefined before the first pass. */
  isReady: boolean | undefined;
  /** Its own `schedule.cron` as it was last computed. Undefined: it has none, or no pass could compute it yet. */
  schedule: CronSchedule | undefined;
  /** When it runs because the result of an expression changes with the time. */
  readonly timeChanges: TimeChanges;
}

/** An object that was deleted to be recreated, in its last state. */
interface ReplacedObject {
  readonly childId: string;
  readonly stored: StoredObject;
}

/** An object whose create request got no response, or that lost the label that its informer selects by. */
export interface UntrackedChild {
  readonly ref: RefAt;
  /** Of the child that created it. */
  readonly childId: string;
  /** Its create request was sent, and no response came. @default false */
  readonly isUnanswered?: boolean;
  /** Its last state in the informer. Undefined: it is unknown whether it exists. */
  readonly lost?: StoredObject;
}

/** The initial state of a resource. */
export function createResourceState(uid: string): ResourceState {
  return {
    uid,
    ledger: new Ledger(),
    responses: new WriteResponses(),
    supersededReports: 0,
    timeChanges: new TimeChanges(),
    untracked: new Map(),
    hadNoFinalizer: undefined,
    created: new Set(),
    isInventoryChecked: false,
    replaced: new Map(),
    removed: new Map(),
    reportedFailures: undefined,
    reportedWait: '',
    emitted: new Set(),
    isOrphaning: false,
    finalizingSinceMs: undefined,
    isReady: undefined,
    schedule: undefined,
  };
}

/** The state of this very resource, not of a previous one of the same name. */
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
