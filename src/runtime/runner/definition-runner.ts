import {
  isSameKind,
  type LocatedDefinition,
  type OperatorDefinition,
  type ServedKind,
} from '../../definition/index.ts';
import { type Informer, KubeError } from '../../kube/roles.ts';
import type { Readiness } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { changedPaths } from '../../util/changed-paths.ts';
import { apiVersionOf, type GroupKind } from '../../util/gvk.ts';
import { errorLogFields, HomeostatError } from '../../util/homeostat-error.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import type { DefinitionMetrics } from '../definition-metrics.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DesiredDefinition, Rejection } from '../desired-definition.ts';
import { errorMessage, isMissingRight } from '../error-message.ts';
import type { PreparedRevision } from '../rollout/revision-operator.ts';
import type { SharedOptions } from '../runner-options.ts';
import { waitToRetry } from '../waits.ts';
import { missingKindMessage, whenServed } from './foreign-kind.ts';
import { type Preparation, prepareDefinition, preparePrevious } from './prepare-definition.ts';
import { type OperatorSummary, ResourceController } from './resource-controller.ts';

export interface DefinitionRunnerOptions extends SharedOptions {
  readonly desired: DesiredDefinition;
  readonly definitionMetrics: DefinitionMetrics;
  /** Kinds of its recorded children. */
  readonly childKinds: () => readonly GroupKind[];
  /**
   * Persists the accepted revision. No resource takes it before this resolves.
   * @throws the signal's reason
   */
  readonly record: (located: LocatedDefinition, signal: AbortSignal) => Promise<void>;
  /** Finalizes resources while the definition cannot run. Ends when the signal aborts or nothing remains. Never rejects. */
  readonly finalizeMeanwhile: (
    definition: OperatorDefinition,
    signal: AbortSignal,
  ) => Promise<void>;
  /** No children of these previous kinds are left. */
  readonly onKindsGone: (kinds: { readonly children: readonly GroupKind[] }) => void;
}

/** Step of a revision whose preparation has not begun. */
const notBegun = 'Waiting to be reconciled';

/**
 * Runs one definition: waits for its kind, prepares the desired revision, reconciles its resources, and switches to each newly desired
 * revision. Errors affect only this definition: they are shown in {@link view} and retried.
 */
export class DefinitionRunner {
  readonly #options: DefinitionRunnerOptions;
  readonly #logger: Logger;
  #state: DefinitionView['state'] = { kind: 'starting', message: notBegun };
  /** Monotonic time of the first failure. Undefined: it is running. */
  #failingSinceMs: number | undefined;
  #desired: DesiredDefinition;
  /** Aborts when another revision is desired. */
  #revisionChange = new AbortController();
  /** Why the cluster rejects the desired revision, while an older one runs. */
  #rejection: Rejection | undefined;
  /** The current preparation step. */
  #progress = notBegun;
  #finalizing: Finalizing | undefined;
  #controller: ResourceController | undefined;
  /** Kinds of resources in a namespace of the runtime, which have been reported. */
  readonly #guardedKinds = new Set<string>();

  constructor(options: DefinitionRunnerOptions) {
    const { desired, logger } = options;
    this.#options = options;
    this.#desired = desired;
    this.#logger = logger.child({ definition: desired.located.definition.name });
  }

  get view(): DefinitionView {
    const { rejection = this.#rejection, located, isPaused } = this.#desired;
    const running = (this.#controller?.newest.located ?? located).definition;
    const { name, revision, kind } = running;
    const { revision: desired } = located.definition;
    const facts = this.#controller?.summary;
    const rollout = this.#controller?.rollout;
    return {
      name,
      revision,
      apiVersion: apiVersionOf(kind.gvk),
      kind: kind.gvk.kind,
      state: this.#state,
      instances: facts?.instances ?? 0,
      orphaned: facts?.orphaned ?? 0,
      queued: this.#controller?.depth ?? 0,
      problems: facts?.problems ?? [],
      ...(facts && { missingRights: facts.missingRights, readyInstances: facts.ready }),
      ...(rejection && { rejection }),
      ...(desired !== revision &&
        this.#rejection === undefined && { next: { revision: desired, message: this.#progress } }),
      ...(isPaused && { isPaused: true }),
      ...(rollout && { rollout }),
      ...(this.#controller && {
        activeRevisions: this.#controller.all.map(({ plan }) => plan.revision),
      }),
    };
  }

  /** Undefined while nothing runs. */
  get readiness(): Readiness | undefined {
    return this.#controller?.summary;
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#controller?.observe();
  }

  /** Enqueues every resource. */
  runAll(): void {
    this.#controller?.runAll();
  }

  /** Changes the desired definition. */
  update(desired: DesiredDefinition): void {
    const isNew = revisionOf(desired) !== revisionOf(this.#desired);
    this.#desired = desired;
    if (isNew) {
      this.#rejection = undefined;
      this.#progress = notBegun;
      this.#revisionChange.abort(new Error('Another revision is desired'));
      this.#revisionChange = new AbortController();
    }
    this.#controller?.approve(desired.approvedDeletions);
    this.#controller?.pause(desired.isPaused === true);
    this.#options.notifier.notify();
  }

  /** Runs until the signal aborts and all passes have ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#repeat(
      (attempt) => this.#runOnce(attempt, signal),
      (error, failures) => this.#startFailed(error, failures),
      signal,
    );
    await this.#stopFinalizing();
  }

  /**
   * Calls `act` until the signal aborts: at once when another revision is desired, otherwise with delays that grow while it returns false
   * or rejects. `attempt`: also aborts when another revision is desired.
   */
  async #repeat(
    act: (attempt: AbortSignal) => Promise<boolean>,
    onError: (error: unknown, failures: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const attempt = AbortSignal.any([signal, this.#revisionChange.signal]);
      let hasSucceeded = false;
      let error: unknown;
      try {
        hasSucceeded = await act(attempt);
      } catch (caught) {
        error = caught;
        if (!attempt.aborted) onError(error, failures);
      }
      if (hasSucceeded) failures = 0;
      await waitToRetry(failures, error, { ...this.#options, signal: attempt });
      failures = hasSucceeded || attempt.aborted ? 0 : failures + 1;
    }
  }

  /** Runs once, until the last pass has ended. False: the definition was rejected. */
  async #runOnce(attempt: AbortSignal, signal: AbortSignal): Promise<boolean> {
    const { cluster } = this.#options;
    const { definition } = this.#desired.located;
    const onMissing = () => this.#kindMissing(definition.kind);
    const informer =
      definition.kind.source === 'for'
        ? await whenServed(definition, { cluster, onMissing }, attempt)
        : undefined;
    try {
      const found = await this.#prepareStart(attempt).catch(async (error: unknown) => {
        // Finalize resources although the definition cannot start.
        if (!attempt.aborted && !isUnreachable(error))
          await this.#startFinalizing(definition, signal);
        throw error;
      });
      if (found.kind === 'rejected') {
        this.#startRejected(found.rejection);
        await this.#startFinalizing(definition, signal);
        return false;
      }
      await this.#stopFinalizing();
      await this.#runController(found, { attempt, signal, informer });
      return true;
    } finally {
      informer?.release();
    }
  }

  async #startFinalizing(definition: OperatorDefinition, signal: AbortSignal): Promise<void> {
    const { revision } = definition;
    if (signal.aborted || this.#finalizing?.revision === revision) return;
    await this.#stopFinalizing();
    const stopper = new AbortController();
    const ending = AbortSignal.any([signal, stopper.signal]);
    const ended = this.#options.finalizeMeanwhile(definition, ending);
    this.#finalizing = { revision, stopper, ended };
  }

  /** Finalizing must not run at the same time as the controller. */
  async #stopFinalizing(): Promise<void> {
    this.#finalizing?.stopper.abort(new Error('The definition can be run, or has changed'));
    await this.#finalizing?.ended;
    this.#finalizing = undefined;
  }

  /**
   * Prepares the desired revision, and the older ones that resources may have. Starts with an older one if the cluster rejects the desired
   * one. Older ones that do not compile any more are omitted: their resources take the newest.
   * @throws KubeError
   */
  async #prepareStart(attempt: AbortSignal) {
    const { located, previous = [] } = this.#desired;
    const { revision } = located.definition;
    const desired = await this.#prepare(located, attempt).catch((error: unknown) => {
      if (attempt.aborted || isUnreachable(error)) throw error;
      return { kind: 'failed', error, rejection: rejectionOf(located, error) } as const;
    });
    const older: PreparedRevision[] = [];
    for (const each of previous) {
      if (each.definition.revision === revision || !isSameKind(each, located)) continue;
      const prepared = await preparePrevious(each, this.#options, attempt);
      if (prepared !== undefined) older.push(prepared);
    }
    if (desired.kind === 'prepared')
      return { kind: 'prepared', first: desired.prepared, older } as const;
    const [first, ...others] = older;
    if (first !== undefined) {
      this.#setRejection(desired.rejection);
      return { kind: 'prepared', first, older: others } as const;
    }
    if (desired.kind === 'failed') throw desired.error;
    return desired;
  }

  async #runController(
    { first, older }: PreparedStart,
    { attempt, signal, informer }: RunContext,
  ): Promise<void> {
    const onLost = (reason: string) => this.#kindLost(reason);
    const onGuarded = (resource: KubeObject) => this.#reportGuarded(resource);
    const work = new ResourceController({ ...this.#options, onLost, onGuarded }, first);
    this.#controller = work;
    this.#setState({ kind: 'syncing' });
    const ending = new AbortController();
    try {
      await work.start({ previous: older, rollout: this.#desired.rollout }, attempt);
      informer?.release();
      this.#started(work.summary);
      const { approvedDeletions, isPaused = false } = this.#desired;
      work.approve(approvedDeletions);
      work.pause(isPaused);
      const following = this.#follow(work, AbortSignal.any([signal, ending.signal]));
      await work.run(signal);
      ending.abort(new Error('The controller has stopped'));
      await following;
    } finally {
      work.stop();
      this.#controller = undefined;
      if (this.#state.kind === 'running' && !signal.aborted)
        this.#setState({ kind: 'starting', message: 'Restarting' });
    }
  }

  /** Switches the running controller to each desired revision. A rejected one is retried, because the cluster may change. */
  async #follow(work: ResourceController, signal: AbortSignal): Promise<void> {
    /** Whether the cluster matches the newest active revision. A failed switch may have changed its CRD. */
    let isSettled = true;
    await this.#repeat(
      async (attempt) => {
        if (!isSettled || revisionOf(this.#desired) !== revisionOf(work.newest)) {
          isSettled = false;
          isSettled = await this.#switchTo(work, this.#desired.located, attempt);
        }
        if (!isSettled) return false;
        this.#rejection = undefined;
        this.#options.notifier.notify();
        await whenAborted(attempt);
        return true;
      },
      (error) => this.#recordFailure(error),
      signal,
    );
  }

  /** False: the cluster rejects it; the active revision keeps running. */
  async #switchTo(
    work: ResourceController,
    located: LocatedDefinition,
    attempt: AbortSignal,
  ): Promise<boolean> {
    const found = await this.#prepare(located, attempt);
    if (found.kind === 'rejected') {
      this.#setRejection(found.rejection);
      return false;
    }
    const before = work.newest.located.definition;
    if (before.revision === located.definition.revision) return true;
    this.#setProgress('Listing the kinds that it uses');
    await work.switchTo(found.prepared, attempt);
    const changed = changedPaths(
      { ...before, revision: '' },
      { ...located.definition, revision: '' },
    );
    const about = { from: before.revision, revision: located.definition.revision, changed };
    this.#logger.info(about, 'Definition changed');
    return true;
  }

  async #prepare(located: LocatedDefinition, signal: AbortSignal): Promise<Preparation> {
    const onStep = (message: string) => this.#setProgress(message);
    const found = await prepareDefinition(located, { ...this.#options, onStep }, signal);
    signal.throwIfAborted();
    if (found.kind === 'prepared') {
      this.#setProgress('Recording the accepted revision');
      await this.#options.record(located, signal);
    }
    return found;
  }

  #setProgress(message: string): void {
    this.#progress = message;
    // A failing state is shown until it is resolved.
    this.#setState(this.#state.kind === 'starting' ? { kind: 'starting', message } : this.#state);
  }

  #setState(state: DefinitionView['state']): void {
    this.#state = state;
    this.#options.notifier.notify();
  }

  #setFailing(state: DefinitionView['state']): void {
    this.#failingSinceMs ??= this.#options.clock.monotonicMs();
    this.#setState(state);
  }

  #kindMissing(kind: ServedKind): void {
    const message = missingKindMessage(kind);
    this.#setFailing({ kind: 'waiting', message });
    this.#logger.info({ reason: message }, 'Definition waits for its kind');
  }

  /** The kind is deleted or has another owner. */
  #kindLost(reason: string): void {
    this.#setFailing({ kind: 'failing', message: reason });
    this.#logger.warn({ reason }, 'Definition stopped, will restart');
  }

  /** `failures`: previous failures in a row. */
  #startFailed(error: unknown, failures: number): void {
    const isForbidden = isMissingRight(error);
    const message = errorMessage(error);
    // An unreachable API server is not a failure of the definition.
    if (isUnreachable(error)) this.#setFailing({ kind: 'starting', message });
    else this.#setFailing({ kind: 'failing', message, ...(isForbidden && { isForbidden }) });
    // Only the first failure in a row is logged as a warning. An unexpected error is a bug.
    const firstLevel = error instanceof HomeostatError ? 'warn' : 'error';
    const level = failures === 0 ? firstLevel : 'debug';
    this.#logger[level](errorLogFields(error), 'Definition cannot start, will retry');
  }

  #startRejected({ message, diagnostics }: Rejection): void {
    const isNew = this.#state.kind !== 'rejected' || this.#state.message !== message;
    this.#setFailing({ kind: 'rejected', message, diagnostics });
    const details = diagnostics.length === 0 ? {} : { diagnostics };
    if (isNew) this.#logger.warn({ reason: message, ...details }, 'Definition rejected');
  }

  #started({ instances, orphaned: leftInPlace, problems }: OperatorSummary): void {
    const sinceMs = this.#failingSinceMs;
    this.#failingSinceMs = undefined;
    this.#setState({ kind: 'running' });
    if (leftInPlace > 0)
      this.#logger.warn(
        { leftInPlace },
        'Objects that no longer match the selector keep their children',
      );
    const nowMs = this.#options.clock.monotonicMs();
    const after = sinceMs === undefined ? {} : { troubledForMs: Math.round(nowMs - sinceMs) };
    const level = problems.length === 0 ? 'info' : 'warn';
    const details = problems.length === 0 ? {} : { problems };
    this.#logger[level]({ instances, ...after, ...details }, 'Definition running');
  }

  /** The desired revision is rejected; an older one runs. */
  #setRejection(rejection: Rejection): void {
    const isNew = this.#rejection?.message !== rejection.message;
    this.#rejection = rejection;
    this.#options.notifier.notify();
    const { revision, message: reason, diagnostics } = rejection;
    const details = diagnostics.length === 0 ? {} : { diagnostics };
    if (isNew)
      this.#logger.warn(
        { revision, reason, ...details },
        'Change rejected, the active revision keeps running',
      );
  }

  /** Once for each kind: nothing is written to a resource that is not served. */
  #reportGuarded({ kind, metadata: { namespace, name } }: KubeObject): void {
    if (this.#guardedKinds.has(kind)) return;
    this.#guardedKinds.add(kind);
    const reason = `To serve the namespace "${namespace}", name it in "controller.namespaces.include" of the definition`;
    this.#logger.info(
      { kind, namespace, name, reason },
      'Resources in a namespace of the runtime are not served',
    );
  }

  /** The switch to the desired revision has failed. */
  #recordFailure(error: unknown): void {
    // Without an API server the revision cannot be judged.
    if (isUnreachable(error)) this.#setProgress(errorMessage(error));
    else this.#setRejection(rejectionOf(this.#desired.located, error));
    if (!(error instanceof HomeostatError))
      this.#logger.error(errorLogFields(error), 'Change failed, will retry');
  }
}

/** Finalizing while there is no plan. */
interface Finalizing {
  readonly revision: string;
  readonly stopper: AbortController;
  readonly ended: Promise<void>;
}

interface PreparedStart {
  readonly first: PreparedRevision;
  /** Older revisions that resources may have, newest first. */
  readonly older: readonly PreparedRevision[];
}

interface RunContext {
  /** Also aborts when another revision is desired. */
  readonly attempt: AbortSignal;
  readonly signal: AbortSignal;
  /** Of the kind of `for`, until the watches of the controller have started. */
  readonly informer: Informer | undefined;
}

function revisionOf({ located }: Pick<DesiredDefinition, 'located'>): string {
  return located.definition.revision;
}

function rejectionOf({ definition: { revision } }: LocatedDefinition, error: unknown): Rejection {
  return { revision, message: errorMessage(error), diagnostics: [] };
}

function isUnreachable(error: unknown): boolean {
  return error instanceof KubeError && error.isUnreachable;
}
