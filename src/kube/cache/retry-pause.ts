import type { KubeError } from '../kube-error.ts';
import type { InformerQuery } from '../roles.ts';
import type { ReflectorContext } from './reflector-context.ts';
import { type DelayBounds, RetryDelay } from './retry-delay.ts';

/** However long a server asks us to stay away: being deaf for a day would be worse. */
const longestAskedDelayMs = 300_000;

/** So often in a row a list or watch is tried soon again though a right is missing. */
export const quickTriesWhenDenied = 2;

/** The pauses of an informer after its failures, and what ends one before its time: a right, a kind, or somebody who knows better. */
export class RetryPause {
  readonly #context: ReflectorContext;
  readonly #query: InformerQuery;
  readonly #delay: RetryDelay;
  #end: (() => void) | undefined;
  /** Ends the waiting for news of a kind that is missing. */
  #endNews: (() => void) | undefined;

  constructor(context: ReflectorContext, query: InformerQuery) {
    this.#context = context;
    this.#query = query;
    this.#delay = new RetryDelay(context);
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#delay.failures;
  }

  /** What failed until now is over. */
  reset(): void {
    this.#delay.reset();
  }

  /** Ends the pause that is under way. */
  endNow(): void {
    this.#end?.();
  }

  /** Counts a failure. Returns how long to pause, in ms. */
  lengthAfter(error: KubeError | undefined): number {
    const failures = this.#delay.fail();
    return this.#delay.delayMs(this.#boundsAfter(error, failures));
  }

  /** Resolves after so long, or when there is reason to try before. */
  async rest(ms: number, error: KubeError | undefined, signal: AbortSignal): Promise<void> {
    const { rights } = this.#context;
    const unsubscribe = error?.right && rights.onGranted(error.right, () => this.#end?.());
    await this.#wait(ms, signal);
    unsubscribe?.();
  }

  /** The kind is missing: news of it end every pause from now on. */
  listenForKind(): void {
    this.#endNews ??= this.#context.arrivals.onNews(this.#query.gvk, () => {
      this.#delay.reset();
      this.#end?.();
    });
  }

  stopListening(): void {
    this.#endNews?.();
    this.#endNews = undefined;
  }

  #boundsAfter(error: KubeError | undefined, failures: number): DelayBounds {
    const { unreachableMaxDelayMs, deniedRetryMs } = this.#context.settings;
    const askedMs = Math.min((error?.retryAfterSeconds ?? 0) * 1_000, longestAskedDelayMs);
    // A server that has just started may not know its roles yet.
    const isDenied = error?.right !== undefined && failures > quickTriesWhenDenied;
    return {
      atLeastMs: Math.max(askedMs, isDenied ? deniedRetryMs : 0),
      atMostMs: error?.status === 0 ? unreachableMaxDelayMs : Infinity,
    };
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener('abort', end);
        this.#end = undefined;
        resolve();
      };
      const cancel = this.#context.clock.after(ms, end);
      signal.addEventListener('abort', end, { once: true });
      this.#end = end;
      if (signal.aborted) end();
    });
  }
}
