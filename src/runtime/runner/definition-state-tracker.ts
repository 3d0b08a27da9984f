import type { ServedKind } from '../../definition/index.ts';
import { KubeError } from '../../kube/roles.ts';
import type { Operator, Readiness } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { errorLogFields, HomeostatError } from '../../util/homeostat-error.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { Rejection } from '../desired-definition.ts';
import { errorMessage } from '../error-message.ts';
import type { ViewChangeNotifier } from '../view-change-notifier.ts';
import { missingKindMessage } from './foreign-kind.ts';

interface DefinitionStateTrackerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly notifier: ViewChangeNotifier;
}

/** Tracks and logs the state of a definition, and how long it has been failing. */
export class DefinitionStateTracker {
  readonly #options: DefinitionStateTrackerOptions;
  #state: DefinitionView['state'] = { kind: 'starting', message: 'Waiting to be reconciled' };
  /** Monotonic time of the first failure. Undefined: it is running. */
  #failingSinceMs: number | undefined;

  constructor(options: DefinitionStateTrackerOptions) {
    this.#options = options;
  }

  get state(): DefinitionView['state'] {
    return this.#state;
  }

  /** Sets the current step; keeps a failing state until it is resolved. */
  starting(message: string): void {
    if (this.#state.kind === 'starting') this.#setState({ kind: 'starting', message });
  }

  /** Its kind is not served. */
  waiting(kind: ServedKind): void {
    this.#markFailing();
    const message = missingKindMessage(kind);
    this.#setState({ kind: 'waiting', message });
    this.#options.logger.info({ reason: message }, 'Definition waits for its kind');
  }

  /** The start failed and will be retried. `failures`: previous failures in a row. */
  failed(error: unknown, failures: number): void {
    this.#markFailing();
    // An unreachable API server is not a failure of the definition.
    const isUnreachable = error instanceof KubeError && error.isUnreachable;
    const isForbidden = error instanceof KubeError && error.right !== undefined;
    const message = errorMessage(error);
    if (isUnreachable) this.#setState({ kind: 'starting', message });
    else this.#setState({ kind: 'failing', message, ...(isForbidden && { isForbidden }) });
    // Only the first failure in a row is logged as a warning. An unexpected error is a bug.
    const firstLevel = error instanceof HomeostatError ? 'warn' : 'error';
    const level = failures === 0 ? firstLevel : 'debug';
    this.#options.logger[level](errorLogFields(error), 'Definition cannot start, will retry');
  }

  rejected({ message, diagnostics }: Rejection): void {
    this.#markFailing();
    const isNew = this.#state.kind !== 'rejected' || this.#state.message !== message;
    this.#setState({ kind: 'rejected', message, diagnostics });
    const details = diagnostics.length === 0 ? {} : { diagnostics };
    if (isNew) this.#options.logger.warn({ reason: message, ...details }, 'Definition rejected');
  }

  /** Its kind is deleted or has another owner; it restarts. */
  lost(reason: string): void {
    this.#markFailing();
    this.#setState({ kind: 'failing', message: reason });
    this.#options.logger.warn({ reason }, 'Definition stopped, will restart');
  }

  syncing(): void {
    this.#setState({ kind: 'syncing' });
  }

  running({ instances, orphaned: leftInPlace, problems }: OperatorSummary): void {
    this.#setState({ kind: 'running' });
    const { logger } = this.#options;
    if (leftInPlace > 0)
      logger.warn({ leftInPlace }, 'Objects that no longer match the selector keep their children');
    const after = this.#clearFailing();
    if (problems.length === 0) logger.info({ instances, ...after }, 'Definition running');
    else logger.warn({ instances, ...after, problems }, 'Definition running');
  }

  #setState(state: DefinitionView['state']): void {
    this.#state = state;
    this.#options.notifier.notify();
  }

  #markFailing(): void {
    this.#failingSinceMs ??= this.#options.clock.monotonicMs();
  }

  /** How long it was failing. */
  #clearFailing(): { readonly troubledForMs?: number } {
    const sinceMs = this.#failingSinceMs;
    this.#failingSinceMs = undefined;
    if (sinceMs === undefined) return {};
    return { troubledForMs: Math.round(this.#options.clock.monotonicMs() - sinceMs) };
  }
}

/** Combined state of operators. */
export interface OperatorSummary extends Readiness {
  readonly instances: number;
  readonly orphaned: number;
  readonly problems: readonly string[];
  readonly missingRights: NonNullable<DefinitionView['missingRights']>;
}

/** `operators`: newest first; the newest one counts the resources. */
export function summarize(operators: readonly Operator[]): OperatorSummary {
  const [newest] = operators;
  const { instances = 0, unmatchedInstances: leftInPlace = 0 } = newest ?? {};
  const counts = { ready: 0, unready: 0 };
  for (const operator of operators) {
    const { ready, unready } = operator.readiness();
    counts.ready += ready;
    counts.unready += unready;
  }
  const problems = operators.flatMap((operator) => operator.problems());
  const messages = problems.map(({ what, message }) => `${what}: ${message}`);
  const rights = problems.filter(({ code }) => code === 'forbidden');
  return {
    instances,
    orphaned: leftInPlace,
    ...counts,
    unknown: Math.max(0, instances - counts.ready - counts.unready),
    problems: [...new Set(messages)],
    missingRights: [...new Set(rights.map(({ message }) => message))],
  };
}
