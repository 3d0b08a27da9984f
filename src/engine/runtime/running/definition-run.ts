import type { Diagnostic, LocatedDefinition } from '#definition';
import { anySignal } from '#util/any-signal.ts';
import type { BackoffOptions } from '#util/backoff.ts';
import { deepEqual } from '#util/deep-equal.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { whenAborted } from '#util/when-aborted.ts';
import type { MigrationView } from '../crd/version-view.ts';
import type { DefinitionMetrics } from '../definition-metrics.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DesiredDefinition, Rejection } from '../desired-definition.ts';
import { errorMessage, isMissingRight } from '../error-message.ts';
import type { FinalizeBeside } from '../finalize/finalize-beside.ts';
import {
  type Preparation,
  type PrepareOptions,
  prepareDefinition,
} from '../prepare/prepare-definition.ts';
import { isUnreachable, prepareStart, rejectionOf } from '../prepare/prepare-start.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import { fieldsOfParts } from '../view-parts.ts';
import { waitToRetry } from '../waits.ts';
import { ActiveRevisions } from './active-revisions.ts';
import type { DefinitionLog } from './definition-log.ts';
import { FailuresInRow } from './failures-in-row.ts';
import { missingKindMessage, whenServed } from './foreign-kind.ts';
import type { RecordGate } from './record-gate.ts';
import { type Progress, runningView } from './running-view.ts';
import { isShownAlike, type RunTask } from './same-task.ts';

interface DefinitionRunOptions extends SharedOptions {
  readonly definitionMetrics: DefinitionMetrics;
  readonly log: DefinitionLog;
  readonly listener: ViewListener;
  /** No resource takes a revision before it is open. */
  readonly gate: RecordGate;
  /** Finalizes resources while no revision runs. */
  readonly beside: FinalizeBeside;
}

/** Step of a revision whose preparation has not begun. */
export const notBegun = 'Waiting to be reconciled';

/**
 * Runs the revisions of one definition and kind, one after the other: prepares a revision, starts it, switches to newer ones, starts again
 * when its kind was lost. Errors are shown in {@link view} and retried.
 */
export class DefinitionRun {
  readonly #options: DefinitionRunOptions;
  /** The newest one. */
  #task: RunTask;
  /** The current step of the desired revision. */
  #progress: Progress = { message: notBegun };
  /** What parts of the view show of the installed CRD. */
  #ofCrd: Partial<DefinitionView> = {};
  #migration: MigrationView | undefined;
  #state: DefinitionView['state'] = { kind: 'starting', message: notBegun };
  #active: ActiveRevisions | undefined;
  /** Whether the cluster matches the newest active revision. A failed switch may have changed its CRD. */
  #isSettled = true;
  /** Why the cluster rejects the desired revision, while an older one runs. */
  #rejection: Rejection | undefined;
  /** Until the desired revision is prepared again. Undefined: the usual delays. */
  #delays: BackoffOptions | undefined;
  /** Monotonic time of the first failure. Undefined: it is running. */
  #failingSinceMs: number | undefined;
  /** Aborts when another revision is desired. */
  #revisionChange = new AbortController();

  constructor(options: DefinitionRunOptions, task: RunTask) {
    this.#options = options;
    this.#task = task;
  }

  /** Undefined: nothing runs yet. */
  get active(): ActiveRevisions | undefined {
    return this.#active;
  }

  get view(): DefinitionView {
    return runningView(this.#task, {
      active: this.#active,
      state: this.#state,
      progress: this.#progress,
      ofCrd: this.#ofCrd,
      migration: this.#migration,
      rejection: this.#rejection,
    });
  }

  get #desired(): DesiredDefinition {
    return this.#task.desired;
  }

  /** Changes the task to one of the same kind. */
  update(task: RunTask): void {
    const before = this.#task;
    this.#task = task;
    const { desired } = task;
    const isNew = revisionOf(before.desired) !== revisionOf(desired);
    if (isNew) {
      this.#rejection = undefined;
      this.#progress = { message: notBegun };
      this.#revisionChange.abort(new Error('Another revision is desired'));
      this.#revisionChange = new AbortController();
    }
    this.#active?.approve(desired.approvedDeletions);
    this.#active?.pause(desired.isPaused === true);
    // Each reconcile of the definition calls this: a change that is none would cause the next one.
    if (isNew || !isShownAlike(before, task)) this.#options.listener.changed();
  }

  /** Starts, follows what is desired, starts again. Until the signal aborts and all passes have ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let active: ActiveRevisions | undefined;
    const failures = new FailuresInRow();
    while (!signal.aborted) {
      const attempt = anySignal([signal, this.#revisionChange.signal]);
      const ending = active === undefined ? attempt : anySignal([attempt, active.ending]);
      let isDone = false;
      let error: unknown;
      try {
        if (active === undefined) {
          active = await this.#start(attempt, signal);
          // An older revision that runs instead does not make a rejected one succeed at once.
          isDone = active !== undefined && this.#rejection === undefined;
        } else isDone = await this.#follow(active, ending);
      } catch (caught) {
        error = caught;
        if (!ending.aborted) this.#failed(caught, failures.count);
      }
      if (active?.ending.aborted) {
        await active.ended;
        active.stop();
        active = undefined;
        this.#ended(signal);
        failures.end();
        await waitToRetry(0, undefined, { ...this.#options, signal: attempt });
        continue;
      }
      if (!isDone) {
        const waiting = active === undefined ? attempt : anySignal([attempt, active.ending]);
        await this.#waitToRetry(failures, error, waiting);
      }
      if (isDone || ending.aborted) failures.end();
    }
    await active?.ended;
    active?.stop();
    await this.#options.beside.stop();
  }

  async #waitToRetry(failures: FailuresInRow, error: unknown, signal: AbortSignal): Promise<void> {
    const delays = this.#delays;
    await waitToRetry(failures.add(delays), error, {
      ...this.#options,
      signal,
      ...(delays && { delays }),
    });
  }

  /** Undefined: the cluster rejects every revision. */
  async #start(attempt: AbortSignal, signal: AbortSignal): Promise<ActiveRevisions | undefined> {
    const { cluster } = this.#options;
    // Before this attempt records one of its own.
    const { unfinished } = this.#options.gate;
    const { definition } = this.#desired.located;
    const { kind } = definition;
    const onMissing = () => {
      if (kind.source === 'for') this.#kindMissing(missingKindMessage(kind));
    };
    const informer =
      kind.source === 'for'
        ? await whenServed(definition, { cluster, onMissing }, attempt)
        : undefined;
    try {
      const prepare = (located: LocatedDefinition) => this.#prepare(located, attempt);
      const found = await prepareStart(this.#desired, { ...this.#options, prepare }, attempt).catch(
        async (error: unknown) => {
          // Finalize resources although the definition cannot start.
          if (!attempt.aborted && !isUnreachable(error))
            await this.#options.beside.start(definition, signal);
          throw error;
        },
      );
      attempt.throwIfAborted();
      if (found.kind === 'rejected') {
        this.#startRejected(found.rejection);
        await this.#options.beside.start(definition, signal);
        return undefined;
      }
      if (found.rejection !== undefined) this.#setRejection(found.rejection);
      await this.#options.beside.stop();
      attempt.throwIfAborted();
      const active = new ActiveRevisions(
        {
          ...this.#options,
          definitionMetrics: this.#options.definitionMetrics,
          onKindsGone: (gone) => this.#options.gate.dropKinds(gone),
          onCrd: (live) => this.#crdChanged(live),
          onMigration: (migration) => this.#migrated(migration),
          onLost: (reason) => this.#kindLost(reason),
          onGuarded: (resource) => this.#options.log.guarded(resource),
        },
        found.first,
      );
      this.#active = active;
      this.#setState({ kind: 'syncing' });
      try {
        await active.start(found.older, unfinished, attempt);
        attempt.throwIfAborted();
      } catch (error) {
        active.stop();
        if (this.#active === active) this.#active = undefined;
        throw error;
      }
      this.#isSettled = true;
      this.#started(active);
      const { approvedDeletions, isPaused = false } = this.#desired;
      active.approve(approvedDeletions);
      active.pause(isPaused);
      active.run(signal);
      return active;
    } finally {
      informer?.release();
    }
  }

  /** Switches to the desired revision, and waits until the signal aborts. False: the cluster rejects it; the active revision keeps running. */
  async #follow(active: ActiveRevisions, ending: AbortSignal): Promise<boolean> {
    const { located } = this.#desired;
    const { revision } = located.definition;
    if (!this.#isSettled || active.newest.plan.revision !== revision) {
      this.#isSettled = false;
      const found = await this.#prepare(located, ending);
      if (found.kind === 'rejected') {
        this.#setRejection(found.rejection);
        return false;
      }
      if (active.newest.plan.revision !== revision) {
        this.#setProgress('Listing the kinds that it uses', this.#progress.changesVersions);
        const before = active.newest.located;
        await active.switchTo(found.prepared, ending);
        this.#options.log.changed(before, located);
      }
      this.#isSettled = true;
    }
    this.#rejection = undefined;
    this.#options.listener.changed();
    await whenAborted(ending);
    return true;
  }

  async #prepare(located: LocatedDefinition, signal: AbortSignal): Promise<Preparation> {
    this.#delays = undefined;
    const onStep: PrepareOptions['onStep'] = (message, changesVersions) =>
      this.#setProgress(message, changesVersions);
    const onCrd = (live: KubeObject | undefined) => this.#crdChanged(live);
    const childKinds = () => this.#options.gate.state.kinds.children;
    const { revision } = located.definition;
    const onBreakingChange = (broken: readonly Diagnostic[]) =>
      this.#options.log.breakingChange(revision, broken);
    const found = await prepareDefinition(
      located,
      { ...this.#options, childKinds, onStep, onCrd, onBreakingChange },
      signal,
    );
    signal.throwIfAborted();
    if (found.kind === 'rejected') this.#delays = found.delays;
    if (found.kind === 'prepared') {
      // Until it is recorded, the change of its versions is not over.
      this.#setProgress('Recording the accepted revision', this.#progress.changesVersions);
      this.#options.gate.accept(located);
      await this.#options.gate.opened(signal);
    }
    return found;
  }

  #crdChanged(live: KubeObject | undefined): void {
    const shown = live === undefined ? {} : fieldsOfParts((part) => part.ofCrd?.(live));
    if (deepEqual(shown, this.#ofCrd)) return;
    this.#ofCrd = shown;
    this.#options.listener.changed();
  }

  #migrated(migration: MigrationView | undefined): void {
    if (deepEqual(migration, this.#migration)) return;
    this.#migration = migration;
    this.#options.listener.counted();
  }

  #setProgress(message: string, changesVersions?: true | undefined): void {
    this.#progress = { message, ...(changesVersions && { changesVersions }) };
    // A failing state is shown until it is resolved.
    this.#setState(this.#state.kind === 'starting' ? { kind: 'starting', message } : this.#state);
  }

  #setState(state: DefinitionView['state']): void {
    this.#state = state;
    this.#options.listener.changed();
  }

  #setFailing(state: DefinitionView['state']): void {
    this.#failingSinceMs ??= this.#options.clock.monotonicMs();
    this.#setState(state);
  }

  #kindMissing(message: string): void {
    this.#setFailing({ kind: 'waiting', message });
    this.#options.log.kindMissing(message);
  }

  /** The kind is deleted or has another owner. */
  #kindLost(reason: string): void {
    this.#setFailing({ kind: 'failing', message: reason });
    this.#options.log.kindLost(reason);
  }

  #started({ summary }: ActiveRevisions): void {
    const sinceMs = this.#failingSinceMs;
    this.#failingSinceMs = undefined;
    this.#setState({ kind: 'running' });
    const nowMs = this.#options.clock.monotonicMs();
    this.#options.log.started(summary, sinceMs === undefined ? undefined : nowMs - sinceMs);
  }

  /** The operators have stopped: the kind is lost, or a missing kind is served. */
  #ended(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#active = undefined;
    if (this.#state.kind === 'running') this.#setState({ kind: 'starting', message: 'Restarting' });
  }

  #startRejected(rejection: Rejection): void {
    const { message, diagnostics } = rejection;
    const isNew = this.#state.kind !== 'rejected' || this.#state.message !== message;
    this.#setFailing({ kind: 'rejected', message, diagnostics });
    if (isNew) this.#options.log.rejected(rejection);
  }

  /** The desired revision is rejected; an older one runs. */
  #setRejection(rejection: Rejection): void {
    const isNew = this.#rejection?.message !== rejection.message;
    this.#rejection = rejection;
    this.#options.listener.changed();
    if (isNew) this.#options.log.changeRejected(rejection);
  }

  /** `failures`: previous failures in a row. */
  #failed(error: unknown, failures: number): void {
    const message = errorMessage(error);
    if (this.#active !== undefined) {
      // Without an API server the revision cannot be judged.
      if (isUnreachable(error)) this.#setProgress(message);
      else this.#setRejection(rejectionOf(this.#desired.located, error));
      this.#options.log.changeFailed(error);
      return;
    }
    const isForbidden = isMissingRight(error);
    // An unreachable API server is not a failure of the definition.
    if (isUnreachable(error)) this.#setFailing({ kind: 'starting', message });
    else this.#setFailing({ kind: 'failing', message, ...(isForbidden && { isForbidden }) });
    this.#options.log.startFailed(error, failures);
  }
}

function revisionOf({ located }: Pick<DesiredDefinition, 'located'>): string {
  return located.definition.revision;
}
