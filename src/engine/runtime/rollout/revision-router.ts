import type { ReconcileContext, ReconcileResult, Reconciler } from '#controller';
import { DeletionHold } from '#reconcile';
import type { KubeObject } from '#util/kube-object.ts';
import type { RevisionOperator } from '../revision-operator.ts';
import { Assignments } from './assignments.ts';
import { isNewResource } from './new-resource.ts';
import { type PassResult, resultOf } from './pass-result.ts';
import { holdsDeletions, revisionOf } from './resource-snapshot.ts';
import { Rollout, type RolloutOptions } from './rollout.ts';
import type { RolloutRecord, RolloutView } from './rollout-view.ts';

/** Maximum number of older active revisions; a further change drops the one with the fewest resources. */
const maxOlder = 2;

export interface RevisionRouterOptions
  extends Pick<RolloutOptions, 'clock' | 'logger' | 'enqueue' | 'onEvent' | 'onChange'> {
  /** Resolves when all running passes have ended. */
  readonly passesEnded: () => Promise<void>;
  /** Whether passes may start. The roll-out waits for this. */
  readonly canReconcile: () => boolean;
  /** All resources have the newest revision, and older operators are stopped. */
  readonly onSettled: () => void;
  /** After that: no deletions can be held any more. Every pass is of the newest operator. */
  readonly onEnded: () => void;
}

interface NextRollout {
  /** The previous revision, used if no older one is active. */
  readonly before: string;
  /** Further resources that may lose children. @default none */
  readonly changed?: readonly string[];
  /** Unfinished roll-out of another process. @default undefined: a new roll-out */
  readonly resumed?: RolloutRecord | undefined;
}

/**
 * Routes each pass to the operator of the resource's revision, while there are several. New, edited and reached resources use the newest;
 * others keep theirs; resources of unknown revision wait.
 */
export class RevisionRouter implements Reconciler {
  readonly #options: RevisionRouterOptions;
  readonly #assignments: Assignments;
  /** The last roll-out, also after its end, because held deletions stay held. */
  #rollout: Rollout | undefined;
  /** Holds for resources that were assigned to older revisions by what they report. */
  #reportedHolds: readonly DeletionHold[] = [];
  #approved: string | undefined;
  #isSettled = false;

  /** `newest`: the revision that all resources have. */
  constructor(options: RevisionRouterOptions, newest: RevisionOperator) {
    this.#options = options;
    this.#assignments = new Assignments(newest, options.enqueue);
  }

  get newest(): RevisionOperator {
    return this.#assignments.newest;
  }

  /** Active operators, newest first. */
  get operators(): readonly RevisionOperator[] {
    return this.#assignments.operators;
  }

  /** Undefined: every resource has the newest revision, and no deletions are held. */
  get view(): RolloutView | undefined {
    return this.#rollout?.view;
  }

  /** Whether the events of this operator for the resource are used. */
  routes(key: string, revisionOperator: RevisionOperator): boolean {
    return this.#assignments.operatorFor(key) === revisionOperator;
  }

  /**
   * Starts with older revisions, too, newest first, that resources may have according to their status. All operators are started.
   * `record`: the unfinished roll-out of the previous process; continues if it is to the newest revision. Then resources that report no
   * revision wait until it reaches them.
   */
  start(older: readonly RevisionOperator[], record?: RolloutRecord): void {
    const { newest } = this;
    const resumed = record?.to === newest.revision ? record : undefined;
    this.#assignments.start(older, resumed);
    this.#guardReported();
    const all = [...newest.resources()];
    const reporting = all.filter(([, resource]) => revisionOf(resource) !== undefined);
    const behind = reporting.find(([, resource]) => isBehind(resource, newest.revision))?.[1];
    // In a resumed roll-out check all: a resource with the revision may not have completed its pass.
    // Resources with children that report nothing have an unknown revision: an older one, if there is one.
    const isChanged = behind !== undefined || older.length > 0;
    const worked = all.filter(
      ([key, resource]) =>
        revisionOf(resource) !== undefined ||
        (newest.reportsRevisions && !isNewResource(newest, key, resource)),
    );
    const changed = resumed ? all : isChanged ? worked : [];
    this.#createRollout({
      before: (behind && revisionOf(behind)) ?? newest.revision,
      changed: changed.map(([key]) => key),
      resumed,
    });
    this.startRollout();
  }

  /** Switches to a newer revision, whose operator is started. Resources keep theirs until they are reached. */
  switchTo(next: RevisionOperator): void {
    const before = this.newest.revision;
    this.#assignments.switchTo(next);
    this.#createRollout({ before });
    this.startRollout();
  }

  /** Starts the roll-out if passes may start. */
  startRollout(): void {
    if (this.#options.canReconcile()) this.#rollout?.start();
  }

  /** Approves the deletions of a revision; `undefined` revokes the approval. */
  approve(revision: string | undefined): void {
    this.#approved = revision;
    this.#rollout?.approve(revision);
    for (const hold of this.#reportedHolds) hold.approve(revision);
  }

  reconcile(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    const isRolling = this.#assignments.older.length > 0 || this.#rollout?.isActive === true;
    return isRolling
      ? this.#reconcileWhileRolling(key, turn)
      : this.newest.operator.reconcile(key, turn);
  }

  /** Stops all operators. No pass may be running. */
  stop(): void {
    this.#rollout?.stop();
    for (const { operator } of this.operators) operator.stop();
    this.#assignments.clear();
  }

  /**
   * A reported revision may be outdated: passes of the older revision could delete what a newer one created. So its deletions beyond
   * `maxDeletions` wait until the resource is reached or they are approved.
   */
  #guardReported(): void {
    this.#reportedHolds = this.#assignments.older.map((revisionOperator) => {
      const { revision, definition } = revisionOperator;
      const hold = new DeletionHold({
        revision,
        maxDeletions: definition.controller.rollout.maxDeletions,
        keys: this.#assignments.keysOf(revisionOperator),
        onAllowed: (key) => this.#options.enqueue(key, 'normal'),
      });
      // Without a preview: passes count deletions.
      hold.decide();
      hold.approve(this.#approved);
      revisionOperator.operator.guardDeletions(hold);
      return hold;
    });
  }

  #createRollout({ before, changed = [], resumed }: NextRollout): void {
    this.#isSettled = false;
    this.#rollout?.stop();
    const givenUp = this.#dropUnused();
    const assignments = this.#assignments;
    this.#rollout = new Rollout({
      ...this.#options,
      assignments,
      from: resumed?.from ?? assignments.older.at(-1)?.revision ?? before,
      guarded: [...new Set([...assignments.keys, ...givenUp, ...changed])],
      resumed,
      onReached: () => this.#finish(),
      onChange: () => this.#changed(),
    });
    this.#rollout.approve(this.#approved);
    for (const revisionOperator of this.operators) revisionOperator.start();
  }

  /**
   * Drops older revisions: excess ones, those without resources, and the newest one's own.
   * @returns resources that now have the newest revision
   */
  #dropUnused(): readonly string[] {
    const givenUp: string[] = [];
    const { newest } = this;
    const countOf = (revisionOperator: RevisionOperator) =>
      revisionOperator.revision === newest.revision
        ? 0
        : this.#assignments.keysOf(revisionOperator).length;
    for (const revisionOperator of this.#assignments.older.toSorted(
      (a, b) => countOf(a) - countOf(b),
    )) {
      if (countOf(revisionOperator) > 0 && this.#assignments.older.length <= maxOlder) break;
      const keys = this.#assignments.drop(revisionOperator);
      givenUp.push(...keys);
      void this.#stopOperator(revisionOperator);
    }
    return givenUp;
  }

  async #reconcileWhileRolling(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    const revisionOperator = this.#assignments.route(key);
    if (revisionOperator === undefined) return { kind: 'done' };
    const isNewest = revisionOperator === this.newest;
    // No older pass of this key is running: one key never has two workers.
    if (isNewest) for (const older of this.#assignments.older) older.forget(key);
    const resource = revisionOperator.operator.resource(key);
    const rollout = this.#rollout;
    const isEnding = resource === undefined || resource.metadata.deletionTimestamp !== undefined;
    if (isEnding) rollout?.forget(key);
    if (isEnding || isNewest) for (const hold of this.#reportedHolds) hold.forget(key);
    if (!isNewest || rollout?.watches(key) !== true)
      return revisionOperator.operator.reconcile(key, turn);
    let result: PassResult = 'blocked';
    try {
      const outcome = await revisionOperator.operator.reconcile(key, turn);
      result = revisionOperator.isFailing(key) ? 'failed' : resultOf(outcome);
      return outcome;
    } finally {
      rollout.passEnded(key, result);
    }
  }

  #finish(): void {
    const older = this.#assignments.dropOlder();
    const { newest } = this;
    void Promise.all(older.map((revisionOperator) => this.#stopOperator(revisionOperator))).then(
      () => {
        if (this.newest !== newest || this.#assignments.older.length > 0) return;
        this.#isSettled = true;
        this.#options.onSettled();
        this.#endIfOver();
      },
    );
  }

  #changed(): void {
    this.#options.onChange();
    this.#endIfOver();
  }

  /** A finished roll-out may still hold deletions: of a resource that has not converged, or when an approval is revoked. */
  #endIfOver(): void {
    if (this.#isSettled && this.#rollout?.isOver === true) this.#options.onEnded();
  }

  /** Stops an operator after its running passes. */
  async #stopOperator({ operator }: RevisionOperator): Promise<void> {
    await this.#options.passesEnded();
    operator.stop();
  }
}

/** Whether it reports another revision, or held deletions. */
function isBehind(resource: KubeObject, revision: string): boolean {
  return revisionOf(resource) !== revision || holdsDeletions(resource);
}
