import type { ServedKind } from '../../definition/index.ts';
import { KubeError } from '../../kube/roles.ts';
import { rightText } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { failureFields } from '../../util/failure-fields.ts';
import { HomeostatError } from '../../util/homeostat-error.ts';
import type { DefinitionState } from '../definition-view.ts';
import type { ViewBell } from '../view-bell.ts';
import type { Refusal } from '../wanted-definition.ts';
import { missingKindText } from './foreign-kind.ts';

export interface StandingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bell: ViewBell;
}

/** What can be said of a definition whose informers have synced. */
export interface RunningFacts {
  readonly instances: number;
  readonly leftInPlace: number;
  readonly problems: readonly string[];
}

/** Where a definition stands, since when it is in trouble, and what the log is told of both. */
export class Standing {
  readonly #options: StandingOptions;
  #state: DefinitionState = { kind: 'starting', message: 'It has not been looked at yet' };
  /** Since when it does not run as it should. Monotonic. */
  #troubledSinceMs: number | undefined;

  constructor(options: StandingOptions) {
    this.#options = options;
  }

  get state(): DefinitionState {
    return this.#state;
  }

  /** What it is at; a state that tells of a trouble stays until the trouble is over. */
  starting(message: string): void {
    if (this.#state.kind === 'starting') this.#become({ kind: 'starting', message });
  }

  /** Its kind is not served. */
  waiting(kind: ServedKind): void {
    this.#noteTrouble();
    const message = missingKindText(kind);
    this.#become({ kind: 'waiting', message });
    this.#options.logger.info({ reason: message }, 'Definition waits for its kind');
  }

  /** It cannot start, for the so many-th time in a row (from 0), and is tried again. */
  failed(error: unknown, failures: number): void {
    this.#noteTrouble();
    // Without a server nothing can be said of the definition: it goes on starting. A refusal is an answer.
    const isSilence = error instanceof KubeError && error.isSilence;
    const isForbidden = error instanceof KubeError && error.right !== undefined;
    const message = messageOf(error);
    if (isSilence) this.#become({ kind: 'starting', message });
    else this.#become({ kind: 'failing', message, ...(isForbidden && { isForbidden }) });
    // The first of a row is worth a look, the others are flow: the state tells what it is. What nobody foresaw is a bug of ours.
    const firstLevel = error instanceof HomeostatError ? 'warn' : 'error';
    const level = failures === 0 ? firstLevel : 'debug';
    this.#options.logger[level](failureFields(error), 'Definition cannot start, will retry');
  }

  refused({ message, diagnostics }: Refusal): void {
    this.#noteTrouble();
    const isNews = this.#state.kind !== 'refused' || this.#state.message !== message;
    this.#become({ kind: 'refused', message, diagnostics });
    const details = diagnostics.length === 0 ? {} : { diagnostics };
    if (isNews) this.#options.logger.warn({ reason: message, ...details }, 'Definition refused');
  }

  /** What it works on is gone or somebody else's; it starts over. */
  lost(reason: string): void {
    this.#noteTrouble();
    this.#become({ kind: 'failing', message: reason });
    this.#options.logger.warn({ reason }, 'Definition stopped, will start over');
  }

  syncing(): void {
    this.#become({ kind: 'syncing' });
  }

  running({ instances, leftInPlace, problems }: RunningFacts): void {
    this.#become({ kind: 'running' });
    const { logger } = this.#options;
    if (leftInPlace > 0)
      logger.warn({ leftInPlace }, 'Objects that match no more keep their children');
    const after = this.#endTrouble();
    if (problems.length === 0) logger.info({ instances, ...after }, 'Definition running');
    else logger.warn({ instances, ...after, problems }, 'Definition running');
  }

  #become(state: DefinitionState): void {
    this.#state = state;
    this.#options.bell.ring();
  }

  #noteTrouble(): void {
    this.#troubledSinceMs ??= this.#options.clock.monotonicMs();
  }

  /** How long it was in trouble, if it was. */
  #endTrouble(): { readonly troubledForMs?: number } {
    const sinceMs = this.#troubledSinceMs;
    this.#troubledSinceMs = undefined;
    if (sinceMs === undefined) return {};
    return { troubledForMs: Math.round(this.#options.clock.monotonicMs() - sinceMs) };
  }
}

/** What went wrong, for people. */
export function messageOf(error: unknown): string {
  if (error instanceof KubeError && error.right !== undefined) return rightText(error.right);
  if (error instanceof KubeError && error.code === 'unauthorized')
    return 'The API server does not accept our credentials';
  return error instanceof Error ? error.message : String(error);
}
