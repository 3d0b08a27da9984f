import { isSameKind, type LocatedDefinition } from '../../definition/index.ts';
import { KubeError } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { changedPaths } from '../../util/changed-paths.ts';
import type { GroupKind } from '../../util/gvk.ts';
import { errorLogFields, HomeostatError } from '../../util/homeostat-error.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DesiredDefinition, Rejection } from '../desired-definition.ts';
import { errorMessage } from '../error-message.ts';
import type { SharedOptions } from '../runner-options.ts';
import { waitToRetry } from '../waits.ts';
import type { DefinitionStateTracker } from './definition-state-tracker.ts';
import {
  type Preparation,
  type PreparedDefinition,
  prepareDefinition,
  preparePrevious,
} from './prepare-definition.ts';
import type { ResourceController } from './resource-controller.ts';

interface DefinitionRevisionsOptions extends SharedOptions {
  readonly desired: DesiredDefinition;
  readonly state: DefinitionStateTracker;
  /** Kinds of its recorded children. */
  readonly childKinds: () => readonly GroupKind[];
  /** See {@link DefinitionRunnerOptions.record}. */
  readonly record: (located: LocatedDefinition, signal: AbortSignal) => Promise<void>;
}

/** The revisions of one definition: the desired one, why the cluster rejects it, and older ones that resources may have. */
export class DefinitionRevisions {
  readonly #options: DefinitionRevisionsOptions;
  readonly #logger: Logger;
  #desired: DesiredDefinition;
  /** Aborts when another revision is desired. */
  #revisionChange = new AbortController();
  /** Why the cluster rejects the desired revision, while an older one runs. */
  #rejection: Rejection | undefined;
  /** The current preparation step. */
  #progress = 'Waiting to be reconciled';
  /** Revisions that ran last in this process, newest first. */
  #previous: readonly LocatedDefinition[] = [];
  #isRunning = false;

  constructor(options: DefinitionRevisionsOptions) {
    this.#options = options;
    this.#desired = options.desired;
    const { name } = options.desired.located.definition;
    this.#logger = options.logger.child({ definition: name });
  }

  get desired(): DesiredDefinition {
    return this.#desired;
  }

  /** The part of the view about revisions, while `running` is active. */
  viewBeside(running: LocatedDefinition): Pick<DefinitionView, 'rejection' | 'next'> {
    const { rejection = this.#rejection } = this.#desired;
    const revision = revisionOf(this.#desired);
    const isOnItsWay = revision !== running.definition.revision && this.#rejection === undefined;
    return {
      ...(rejection && { rejection }),
      ...(isOnItsWay && { next: { revision, message: this.#progress } }),
    };
  }

  /** Changes the desired definition. */
  update(desired: DesiredDefinition): void {
    const isNew = revisionOf(desired) !== revisionOf(this.#desired);
    this.#desired = desired;
    if (!isNew) return;
    this.#rejection = undefined;
    this.#progress = 'Waiting to be reconciled';
    this.#revisionChange.abort(new Error('Another revision is desired'));
    this.#revisionChange = new AbortController();
  }

  /** Aborts with the signal, and when another revision is desired. */
  attempt(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#revisionChange.signal]);
  }

  /**
   * Prepares the desired revision, or an older one if the cluster rejects it.
   * @throws KubeError if neither can be prepared.
   */
  async prepareFirst(attempt: AbortSignal): Promise<Preparation> {
    const { located } = this.#desired;
    try {
      const found = await this.#prepare(located, attempt);
      if (found.kind === 'prepared') return found;
      const previous = await this.#prepareAnyPrevious(attempt);
      if (previous === undefined) return found;
      this.#setRejection(found.rejection);
      return { kind: 'prepared', prepared: previous };
    } catch (error) {
      if (attempt.aborted || isUnreachable(error)) throw error;
      const previous = await this.#prepareAnyPrevious(attempt);
      if (previous === undefined) throw error;
      this.#setRejection(rejectionOf(located, error));
      return { kind: 'prepared', prepared: previous };
    }
  }

  /**
   * Prepares the older revisions that resources may have. Those that do not compile any more are omitted: their resources take the newest.
   * @throws KubeError
   */
  async prepareOlder(
    first: PreparedDefinition,
    signal: AbortSignal,
  ): Promise<readonly PreparedDefinition[]> {
    const older: PreparedDefinition[] = [];
    for (const located of this.#older) {
      if (revisionOf({ located }) === revisionOf(first)) continue;
      const prepared = await preparePrevious(located, this.#options, signal);
      if (prepared !== undefined) older.push(prepared);
    }
    return older;
  }

  /**
   * Switches the running controller to each desired revision until the signal aborts. A rejected one is retried, because the cluster may
   * change. Never rejects.
   */
  async follow(work: ResourceController, signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    /** Whether the cluster matches the newest active revision. A failed switch may have changed its CRD. */
    let isSettled = true;
    let failures = 0;
    while (!signal.aborted) {
      const attempt = this.attempt(signal);
      const { located } = this.#desired;
      if (revisionOf(this.#desired) === revisionOf(work.newest) && isSettled) {
        failures = 0;
        this.#rejection = undefined;
        await whenAborted(attempt);
        continue;
      }
      let error: unknown;
      try {
        isSettled = await this.#switchTo(work, located, attempt);
      } catch (caught) {
        isSettled = false;
        error = caught;
        if (!attempt.aborted) this.#recordFailure(located, error);
      }
      if (isSettled) failures = 0;
      else
        await waitToRetry(failures++, error, {
          ...this.#options,
          signal: attempt,
        });
      if (attempt.aborted) failures = 0;
    }
    this.#isRunning = false;
    this.#previous = work.all.map((each) => each.located);
  }

  async #prepare(located: LocatedDefinition, signal: AbortSignal): Promise<Preparation> {
    const found = await prepareDefinition(
      located,
      {
        ...this.#options,
        onStep: (message) => this.#setProgress(message),
      },
      signal,
    );
    signal.throwIfAborted();
    if (found.kind === 'prepared') {
      this.#setProgress('Recording the accepted revision');
      await this.#options.record(located, signal);
    }
    return found;
  }

  #setProgress(message: string): void {
    const { state: standing, notifier } = this.#options;
    this.#progress = message;
    if (this.#isRunning) notifier.notify();
    else standing.starting(message);
  }

  /** Older revisions of the same kind, newest first. */
  get #older(): readonly LocatedDefinition[] {
    const { located, previous = [] } = this.#desired;
    const byRevision = new Map(
      [...this.#previous, ...previous].map((each) => [each.definition.revision, each]),
    );
    byRevision.delete(located.definition.revision);
    return [...byRevision.values()].filter((each) => isSameKind(each, located));
  }

  async #prepareAnyPrevious(signal: AbortSignal): Promise<PreparedDefinition | undefined> {
    for (const previous of this.#older) {
      const prepared = await preparePrevious(previous, this.#options, signal);
      if (prepared !== undefined) return prepared;
    }
    return undefined;
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
    this.#options.notifier.notify();
    return true;
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

  #recordFailure(located: LocatedDefinition, error: unknown): void {
    // Without an API server the revision cannot be judged.
    if (isUnreachable(error)) this.#setProgress(errorMessage(error));
    else this.#setRejection(rejectionOf(located, error));
    if (!(error instanceof HomeostatError))
      this.#logger.error(errorLogFields(error), 'Change failed, will retry');
  }
}

function revisionOf({ located }: Pick<DesiredDefinition, 'located'>): string {
  return located.definition.revision;
}

function rejectionOf({ definition: { revision } }: LocatedDefinition, error: unknown): Rejection {
  return { revision, message: errorMessage(error), diagnostics: [] };
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof KubeError && error.isUnreachable;
}
