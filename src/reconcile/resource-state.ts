import type { ObjectRef, StoredObject } from '../kube/roles.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { Intent } from './child/build-intent.ts';
import type { Concession } from './child/concessions.ts';
import type { Fight } from './child/fights.ts';
import type { Replacement } from './child/replace-element.ts';
import type { Problem } from './failure.ts';
import { createLimitRest, type LimitRest } from './pass/limit-rest.ts';
import type { ReadResult } from './pass/observe-reads.ts';
import { createRestraint, type Restraint } from './pass/restraint.ts';

/** What is remembered of one resource between its passes. In memory only: losing it costs requests, never correctness. */
export interface ResourceState {
  readonly uid: string;
  /** By topic: how the server's answer to our own apply differed from the intent (engine.md section 5, step 3). */
  readonly serverMade: Map<string, string>;
  /**
   * By topic, for children that may be held or wait: the intent that was applied last. Tells drift from a change of intent,
   * and repairs it meanwhile.
   */
  readonly appliedIntents: Map<string, Intent>;
  /** By identity of the object: what the server has refused, for good or for a while. */
  readonly refusals: Map<string, Refusal>;
  /** By UID: deletions that the server has refused. */
  readonly deletionsRefused: Map<string, DeletionRefusal>;
  /** By identity of the object: what is put back again and again. */
  readonly fights: Map<string, Fight>;
  /** By identity of the object: what is left to other managers. */
  readonly concessions: Map<string, Concession>;
  /** By identity of the object: when it was made anew because a field of it cannot be changed. */
  readonly replacements: Map<string, Replacement>;
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
  /** So many reports in a row were left to the pass that follows. */
  overtakenReports: number;
  /** How the server's answer to our own status differed from it. */
  statusMade: string | undefined;
  /** Set while the server does not take the author's status fields. */
  statusRefused: StatusRefusal | undefined;
  /** Its deletion leaves what it owns where it is (`--cascade=orphan`). */
  isOrphaning: boolean;
  /** Since when its `onDelete.timeout` counts, wall clock. Undefined: nobody has tried to bring its deletion to an end so far. */
  endingSinceMs: number | undefined;
  /** What the last pass has said of `Ready`; undefined before the first. */
  isReady: boolean | undefined;
  readonly followUps: FollowUps;
  readonly limitRest: LimitRest;
  readonly restraint: Restraint;
}

/** An object that was deleted to be made anew, as it was. */
export interface ReplacedObject {
  readonly childId: string;
  readonly stored: StoredObject;
}

/** An intent that the server has refused, and the world as it was then. */
export interface Refusal {
  readonly intent: Intent;
  /** The object as it was; undefined: it was to be made. */
  readonly live: StoredObject | undefined;
  readonly resource: KubeObject;
  readonly reads: ReadonlyMap<string, ReadResult>;
  readonly problem: Problem;
  /** Monotonic. */
  readonly atMs: number;
  /** Until then it is not asked for again. Monotonic. */
  readonly untilMs: number;
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

/** A deletion that is not asked for again for a while. */
export interface DeletionRefusal {
  readonly problem: Problem;
  /** Monotonic. */
  readonly untilMs: number;
}

/** Author's status fields that the server has refused: not sent again for a while. */
export interface StatusRefusal {
  /** Of the fields that were refused. */
  readonly digest: string;
  /** What the server said of them. */
  readonly problem: Problem;
  /** When, on the monotonic clock. */
  readonly atMs: number;
}

/** Passes that followed each other because of our own writes. */
export interface FollowUps {
  /** What changed in the last one, as a path for people. */
  path: string;
  /** How often in a row it was that path. */
  count: number;
  /** How many passes in a row called for another one, whatever path it was and whoever woke the resource meanwhile. */
  withoutRest: number;
  /** Is a patch of the resource itself on its way? Its answer is no event from outside. */
  isPatchingItself: boolean;
  /** Has an event from outside woken the resource since its last pass began? */
  wokenFromOutside: boolean;
}

/** A resource of which nothing is known yet. */
export function createResourceState(uid: string): ResourceState {
  return {
    uid,
    serverMade: new Map(),
    appliedIntents: new Map(),
    refusals: new Map(),
    deletionsRefused: new Map(),
    fights: new Map(),
    concessions: new Map(),
    strays: new Map(),
    knowsBeginning: undefined,
    made: new Set(),
    isRecordRead: false,
    replacements: new Map(),
    replaced: new Map(),
    told: undefined,
    overtakenReports: 0,
    statusMade: undefined,
    statusRefused: undefined,
    isOrphaning: false,
    endingSinceMs: undefined,
    isReady: undefined,
    followUps: {
      path: '',
      count: 0,
      withoutRest: 0,
      wokenFromOutside: false,
      isPatchingItself: false,
    },
    limitRest: createLimitRest(),
    restraint: createRestraint(),
  };
}
