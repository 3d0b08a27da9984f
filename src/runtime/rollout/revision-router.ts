import type {
  Priority,
  ReconcileContext,
  ReconcileResult,
  Reconciler,
} from '../../controller/index.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { RolloutRecord, RolloutView } from '../definition-view.ts';
import { Assignments } from './assignments.ts';
import { holdsDeletions, revisionOf } from './resource-snapshot.ts';
import {
  isStalled,
  RevisionOperator,
  type RevisionOperatorOptions,
  resultOfError,
} from './revision-operator.ts';
import { Rollout, type RolloutEvent } from './rollout.ts';
import type { PassResult } from './rollout-pacer.ts';

/** Maximum number of older active revisions; a further change drops the one with the fewest resources. */
const maxOlder = 2;

interface RevisionRouterOptions {
  readonly clock: Clock;
  /** Enqueues in the definition's work queue. */
  readonly enqueue: (key: string, priority: Priority) => void;
  /** Resolves when all running passes have ended. */
  readonly passesEnded: () => Promise<void>;
  /** Whether passes may start. The roll-out waits for this. */
  readonly canReconcile: () => boolean;
  readonly onEvent: (event: RolloutEvent, view: RolloutView) => void;
  /** The view may have changed. */
  readonly onChange: () => void;
  /** Called when a preview throws an unexpected error. */
  readonly onPreviewError: (error: unknown) => void;
  /** All resources have the newest revision, and older operators are stopped. */
  readonly onSettled: () => void;
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
 * Routes each pass to the operator of the resource's revision. New, edited and reached resources use the newest; others keep theirs;
 * resources of unknown revision wait. Without a roll-out there is one operator.
 */
export class RevisionRouter implements Reconciler {
  readonly #options: RevisionRouterOptions;
  readonly #assignments: Assignments;
  /** Operators to stop when their passes have ended. */
  readonly #stopping = new Set<RevisionOperator>();
  /** The last roll-out, also after its end, because held deletions stay held. */
  #rollout: Rollout | undefined;
  /** Whether a roll-out needs the results of passes. */
  #isRolling = false;
  #approved: string | undefined;

  constructor(options: RevisionRouterOptions) {
    this.#options = options;
    this.#assignments = new Assignments(options.enqueue);
  }

  /** @throws Error before {@link start} */
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

  /** Creates the operator of a revision. It gets passes after {@link start} or {@link switchTo}. */
  createOperator(
    located: LocatedDefinition,
    createOperator: RevisionOperatorOptions['createOperator'],
  ): RevisionOperator {
    const onWake = (revisionOperator: RevisionOperator, key: string, priority: Priority) => {
      if (this.#assignments.operatorFor(key) === revisionOperator)
        this.#options.enqueue(key, priority);
    };
    return new RevisionOperator({ located, createOperator, onEnqueue: onWake });
  }

  /**
   * Starts with a revision and older ones, newest first, that resources may have according to their status. All operators are started.
   * `record`: the unfinished roll-out of the previous process; continues if it is to this revision. Then resources that report no revision
   * wait until it reaches them.
   */
  start(
    newest: RevisionOperator,
    older: readonly RevisionOperator[],
    record?: RolloutRecord,
  ): void {
    const resumed = record?.to === newest.revision ? record : undefined;
    this.#assignments.start(newest, older, resumed);
    this.#guardReported();
    const all = [...newest.resources()];
    const reporting = all.filter(([, resource]) => revisionOf(resource) !== undefined);
    const behind = reporting.find(([, resource]) => isBehind(resource, newest.revision))?.[1];
    // In a resumed roll-out check all: a resource with the revision may not have completed its pass.
    const changed = resumed ? all : behind ? reporting : [];
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
    for (const revisionOperator of this.#assignments.older) revisionOperator.approve(revision);
  }

  reconcile(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    return this.#isRolling
      ? this.#reconcileWhileRolling(key, turn)
      : this.newest.operator.reconcile(key, turn);
  }

  /** Stops all operators. No pass may be running. */
  stop(): void {
    this.#rollout?.stop();
    this.#isRolling = false;
    for (const revisionOperator of new Set([...this.operators, ...this.#stopping]))
      revisionOperator.operator.stop();
    this.#stopping.clear();
    this.#assignments.clear();
  }

  /** A reported revision may be outdated: passes of the older revision could delete what a newer one created. */
  #guardReported(): void {
    for (const revisionOperator of this.#assignments.older) {
      revisionOperator.guardReported(this.#assignments.keysOf(revisionOperator), (key) =>
        this.#options.enqueue(key, 'normal'),
      );
      revisionOperator.approve(this.#approved);
    }
  }

  #createRollout({ before, changed = [], resumed }: NextRollout): void {
    this.#rollout?.stop();
    const givenUp = this.#dropUnused();
    const { newest } = this;
    const { clock, enqueue, onEvent: onNews, onChange, onPreviewError: onBug } = this.#options;
    const { keys } = this.#assignments;
    const rollout = new Rollout({
      to: newest,
      from: resumed?.from ?? this.#assignments.older.at(-1)?.revision ?? before,
      keys,
      guarded: [...new Set([...keys, ...givenUp, ...changed])],
      resumed,
      clock,
      isPending: (key) => this.#assignments.isPending(key),
      pending: () => this.#assignments.size,
      reach: (key) => this.#reach(key),
      enqueue: (key) => enqueue(key, 'normal'),
      onEvent: onNews,
      onChange: () => {
        this.#isRolling = this.#assignments.older.length > 0 || rollout.view !== undefined;
        onChange();
      },
      onPreviewError: onBug,
      onReached: () => this.#finish(),
    });
    this.#rollout = rollout;
    this.#isRolling = this.#assignments.older.length > 0 || rollout.view !== undefined;
    rollout.approve(this.#approved);
    newest.start();
    for (const revisionOperator of this.#assignments.older) revisionOperator.start();
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
      this.#handOver(revisionOperator, keys);
      givenUp.push(...keys);
      void this.#stopOperator(revisionOperator);
    }
    return givenUp;
  }

  #reach(key: string): { readonly failedBefore: boolean } {
    const revisionOperator = this.#assignments.olderFor(key);
    const resource = (revisionOperator ?? this.newest).operator.resource(key);
    const failedBefore =
      revisionOperator?.isFailing(key) === true || (resource !== undefined && isStalled(resource));
    this.#assignments.assignNewest(key);
    return { failedBefore };
  }

  async #reconcileWhileRolling(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    const revisionOperator = this.#assignments.route(key);
    if (revisionOperator === undefined) return { kind: 'done' };
    const isNewest = revisionOperator === this.newest;
    // No older pass of this key is running: one key never has two workers.
    if (isNewest)
      for (const older of this.#assignments.older) {
        this.#handOver(older, [key]);
        older.forget(key);
      }
    const resource = revisionOperator.operator.resource(key);
    if (resource?.metadata.deletionTimestamp !== undefined || resource === undefined)
      for (const guard of [
        this.#rollout,
        ...this.#assignments.older.map(({ reportedHold: kept }) => kept),
      ])
        guard?.forget(key);
    const rollout = this.#rollout;
    if (!isNewest || rollout?.watches(key) !== true)
      return revisionOperator.operator.reconcile(key, turn);
    let result: PassResult = 'blocked';
    try {
      const outcome = await revisionOperator.operator.reconcile(key, turn);
      result =
        outcome.kind === 'failed' || revisionOperator.isFailing(key) ? 'failed' : 'succeeded';
      return outcome;
    } catch (error) {
      if (!turn.signal.aborted)
        result = revisionOperator.isFailing(key) ? 'failed' : resultOfError(error);
      throw error;
    } finally {
      rollout.passEnded(key, result);
    }
  }

  /** The newest revision records what an older one has seen of the reads of these resources. */
  #handOver({ operator }: RevisionOperator, keys: Iterable<string>): void {
    for (const key of keys) {
      const waiting = operator.handOver(key);
      if (waiting !== undefined) this.newest.operator.adopt(waiting);
    }
  }

  #finish(): void {
    const older = this.#assignments.dropOlder();
    for (const each of older) this.#handOver(each, each.operator.keys());
    this.#isRolling = this.#rollout?.view !== undefined;
    const { newest } = this;
    void Promise.all(older.map((revisionOperator) => this.#stopOperator(revisionOperator))).then(
      () => {
        if (this.newest === newest && this.#assignments.older.length === 0)
          this.#options.onSettled();
      },
    );
  }

  /** Stops an operator after its running passes. */
  async #stopOperator(revisionOperator: RevisionOperator): Promise<void> {
    this.#stopping.add(revisionOperator);
    await this.#options.passesEnded();
    if (this.#stopping.delete(revisionOperator)) revisionOperator.operator.stop();
  }
}

/** Whether it reports another revision, or held deletions. */
function isBehind(resource: KubeObject, revision: string): boolean {
  return revisionOf(resource) !== revision || holdsDeletions(resource);
}
