import type { PhaseInput, ReadPlan, ReportPhase } from '#compile';
import type { RefAt, StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Problem } from '../failure.ts';
import type { PruneCandidate } from '../prune-candidate.ts';
import type { SelectedChange } from '../watch/selections.ts';
import type { WatchProblem } from '../watch/watches.ts';
import type { Pass, ReadResult } from './pass.ts';

/**
 * A feature that most definitions do not use. The steps of a pass ask it at these seams and do not know it; each member is optional, and in
 * the order of the steps. A feature that the definition does not use and of which the resource has no record is not asked
 * ({@link Features.of}).
 */
export interface Feature {
  /** Does the definition use it? Then every pass asks it. */
  readonly isUsed: boolean;
  /** The annotation of resources that have a record of it, whether the definition uses it or not. @default undefined: there is none */
  readonly annotation?: string;
  /** What of it works where nothing is written or reported: in previews. @default undefined: nothing */
  readonly silent?: Feature;

  /** Starts before the first pass. Resolves when what it watches has synced or failed once. */
  start?(signal: AbortSignal): Promise<void>;
  stop?(): void;
  /** Gets the changes of the objects that a read selects, before any resource is enqueued for them. Undefined: none of this read. */
  tap?(read: ReadPlan): SelectedChange | undefined;
  /** Errors of its watches. */
  watchProblems?(): readonly WatchProblem[];
  /** A request that was rejected for this resource may succeed now: a right was granted. */
  retry?(key: string): void;
  /** The resource is deleted, or is no longer one of the definition. Resolves when nothing of it is in flight. */
  forget?(key: string): Promise<void>;

  /** What expressions may read of it: the same in the whole pass. Undefined: it is not known yet, so the report keeps its values. */
  input?(uid: string): Partial<PhaseInput> | undefined;
  /** Is an object that a read finds left out of it? */
  hides?(pass: Pass, read: ReadPlan, stored: StoredObject): boolean;
  /** A read was resolved, in the synchronous step in which the cache was read. Also while the resource is paused. */
  seen?(pass: Pass, read: ReadResult): void;
  /** What must be on the resource before these objects are created. All of it is one apply. */
  records?(pass: Pass, creates: readonly RefAt[]): ResourceRecords;
  /** What it keeps for the resource and is no longer to be kept; deleted with the objects that are no longer desired. */
  outdated?(pass: Pass): Outdated | undefined | Promise<Outdated | undefined>;
  /**
   * Why objects of the resource are kept that are no longer desired: stable text that follows "No longer desired; ". Asked once, with all of
   * them; before that for each object that holds data and is to be recreated. Synchronous.
   */
  mayPrune?(pass: Pass, all: readonly PruneCandidate[]): string | undefined;
  /** All desired objects exist, and all others are deleted or being deleted. */
  converged?(pass: Pass): void;
  /** Problems that the report has, apart from those of {@link react}. */
  problems?(pass: Pass): readonly Problem[];
  /**
   * Acts on the mapped status, before the summary and the Events. Called only if all is known that the report reads. `phase`: undefined if
   * the definition reports nothing.
   */
  react?(pass: Pass, phase: ReportPhase | undefined): Promise<Reaction>;
  /** Does a resource that stays keep our finalizer for it, though the definition needs none? */
  keepsFinalizer?(pass: Pass): boolean;
  /**
   * Acts before the children of a resource are removed, once `onDelete` is done: the resource is deleted, no longer matches, or its definition
   * is removed. Returns why they may not be removed yet.
   */
  beforeRemoval?(pass: Pass, removal: Removal): Promise<readonly Problem[]>;
  /** Removes what must not outlive a resource that is being deleted, before our finalizer is removed. Returns why some may remain. */
  mayRelease?(pass: Pass): Promise<readonly Problem[]>;
}

/** Why the children of a resource are removed. */
export interface Removal {
  /**
   * Does what a definition does in a deletion still happen? Not if the resource only stopped matching, and not if a user or a timeout gave
   * it up.
   */
  readonly runsOnDelete: boolean;
}

/** What a feature has recorded on a resource. */
export interface ResourceRecords {
  readonly annotations: Readonly<Record<string, string>>;
  /** Does the resource have them? */
  readonly isRecorded: boolean;
  /** Are they needed before the first object that is read, not only before one is created? @default false */
  readonly isEarly?: boolean;
  /** Called once they are written. */
  readonly onWritten?: () => void;
}

/** What a feature keeps for a resource and is no longer to be kept. */
export interface Outdated {
  /** Not empty. */
  readonly candidates: readonly PruneCandidate[];
  /** Deletes them. Returns the error, if any. */
  remove(signal: AbortSignal): Promise<Problem | undefined>;
  /** The problem to report while they are kept. */
  kept(reason: string): Problem;
}

/** What a feature has done on the mapped status. */
export interface Reaction {
  readonly problems: readonly Problem[];
  /** Must the author's status fields and Events not appear yet, as what they report is not done? */
  readonly isPending: boolean;
}

const none: readonly Feature[] = [];

/** The features of one definition. */
export class Features {
  #all: readonly Feature[];

  constructor(all: readonly Feature[]) {
    this.#all = all;
  }

  get all(): readonly Feature[] {
    return this.#all;
  }

  add(feature: Feature): void {
    this.#all = [...this.#all, feature];
  }

  remove(feature: Feature): void {
    this.#all = this.#all.filter((each) => each !== feature);
  }

  /** Those that a pass of this resource asks. */
  of({ metadata: { annotations } }: KubeObject): readonly Feature[] {
    const found = this.#all.filter(
      ({ isUsed, annotation }) =>
        isUsed || (annotation !== undefined && annotations?.[annotation] !== undefined),
    );
    return found.length === 0 ? none : found;
  }

  /** What of them works where nothing is written or reported. */
  silent(): Features {
    return new Features(this.#all.flatMap(({ silent }) => silent ?? []));
  }
}

/** Lets features act before the children are removed; returns why they may not be removed yet. */
export async function removalBlockers(pass: Pass, removal: Removal): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const { beforeRemoval } of pass.features)
    problems.push(...((await beforeRemoval?.(pass, removal)) ?? []));
  return problems;
}

/** What the features of a pass no longer keep. */
export async function outdatedOf(pass: Pass): Promise<readonly Outdated[]> {
  const found: Outdated[] = [];
  for (const feature of pass.features) {
    const outdated = await feature.outdated?.(pass);
    if (outdated !== undefined) found.push(outdated);
  }
  return found;
}

/** Why the features of a pass keep these objects; undefined: they may be deleted. */
export function keptBecause(pass: Pass, all: readonly PruneCandidate[]): string | undefined {
  for (const feature of pass.features) {
    const reason = feature.mayPrune?.(pass, all);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
