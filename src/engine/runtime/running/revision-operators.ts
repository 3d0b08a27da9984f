import type { Priority, ReconcileContext, ReconcileResult, Reconciler } from '#controller';
import type { DefinitionView } from '../definition-view.ts';
import type { PreparedRevision } from '../prepare/prepared-revision.ts';
import { RevisionOperator, type RevisionOperatorOptions } from '../revision-operator.ts';
import { RevisionRouter, type RevisionRouterOptions } from '../rollout/revision-router.ts';
import type { RolloutRecord } from '../rollout/rollout-view.ts';

type RevisionOperatorsOptions = Omit<RevisionRouterOptions, 'onEnded'>;

/**
 * The operators of the active revisions of a definition. When nothing is rolled out there is one, which runs every pass. A router decides
 * only while resources may have different revisions, or deletions may be held.
 */
export class RevisionOperators implements Reconciler {
  readonly #options: RevisionOperatorsOptions;
  #newest: RevisionOperator | undefined;
  /** Undefined: every resource has the newest revision, and no deletion can be held. */
  #router: RevisionRouter | undefined;
  #approved: string | undefined;

  constructor(options: RevisionOperatorsOptions) {
    this.#options = options;
  }

  /** @throws Error before {@link start} */
  get newest(): RevisionOperator {
    if (this.#newest === undefined) throw new Error('Expected an active revision');
    return this.#newest;
  }

  /** Newest first; none before {@link start}. */
  get all(): readonly RevisionOperator[] {
    if (this.#router !== undefined) return this.#router.operators;
    return this.#newest === undefined ? [] : [this.#newest];
  }

  /** Its part of the view of the definition. */
  get shown(): Pick<DefinitionView, 'rollout'> {
    const rollout = this.#router?.view;
    return rollout === undefined ? {} : { rollout };
  }

  /** Creates the operator of a revision. It gets passes after {@link start} or {@link switchTo}. */
  create(
    prepared: PreparedRevision,
    createOperator: RevisionOperatorOptions['createOperator'],
  ): RevisionOperator {
    const onEnqueue = (revisionOperator: RevisionOperator, key: string, priority: Priority) => {
      const isUsed =
        this.#router === undefined
          ? revisionOperator === this.#newest
          : this.#router.routes(key, revisionOperator);
      if (isUsed) this.#options.enqueue(key, priority);
    };
    return new RevisionOperator({ prepared, createOperator, onEnqueue });
  }

  /**
   * Starts with a revision and older ones, newest first, that resources may have according to their status. All operators are started.
   * `unfinished`: the recorded roll-out of the previous process.
   */
  start(
    newest: RevisionOperator,
    older: readonly RevisionOperator[],
    unfinished?: RolloutRecord,
  ): void {
    this.#newest = newest;
    this.#route(newest).start(older, unfinished);
  }

  /** Switches to a newer revision, whose operator is started. Resources keep theirs until they are reached. */
  switchTo(next: RevisionOperator): void {
    const router = this.#router ?? this.#route(this.newest);
    this.#newest = next;
    router.switchTo(next);
  }

  /** Call when passes may start, also after a pause. */
  resume(): void {
    this.#router?.startRollout();
  }

  /** Approves the deletions of a revision; `undefined` revokes the approval. */
  approve(revision: string | undefined): void {
    this.#approved = revision;
    this.#router?.approve(revision);
  }

  reconcile(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    return (this.#router ?? this.newest.operator).reconcile(key, turn);
  }

  /** Stops all operators. No pass may be running. */
  stop(): void {
    if (this.#router === undefined) this.#newest?.operator.stop();
    else this.#router.stop();
  }

  /** All resources have the revision `newest` so far. */
  #route(newest: RevisionOperator): RevisionRouter {
    const onEnded = () => {
      if (this.#router === router) this.#router = undefined;
    };
    const router = new RevisionRouter({ ...this.#options, onEnded }, newest);
    router.approve(this.#approved);
    this.#router = router;
    return router;
  }
}
