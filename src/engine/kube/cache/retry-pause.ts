import { backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';
import type { KubeError } from '../kube-error.ts';
import type { InformerQuery } from '../roles.ts';
import type { ReflectorContext, ResolvedInformerSettings } from './reflector-context.ts';

/** Upper bound of Retry-After: a cache must not be stale for a day. */
const longestAskedDelayMs = 300_000;

/** Number of quick retries although a right is missing. */
const quickTriesWhenDenied = 2;

/**
 * Pauses of an informer after failures. A pause ends early when a right is granted, a kind becomes available, or on
 * {@link cancel}.
 */
export class RetryPause {
  readonly #context: ReflectorContext;
  readonly #query: InformerQuery;
  readonly #delay: RetryDelay;
  #end: (() => void) | undefined;
  /** Unsubscribes from changes of a missing kind. */
  #unsubscribeKind: (() => void) | undefined;

  constructor(context: ReflectorContext, query: InformerQuery) {
    this.#context = context;
    this.#query = query;
    this.#delay = new RetryDelay(context);
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#delay.failures;
  }

  /** Resets the failure count. */
  reset(): void {
    this.#delay.reset();
  }

  /** Ends the current pause. */
  cancel(): void {
    this.#end?.();
  }

  /** Counts a failure. Returns the length of the pause in ms. */
  lengthAfter(error: KubeError | undefined): number {
    const failures = this.#delay.fail();
    return this.#delay.delayMs(this.#boundsAfter(error, failures));
  }

  /** Resolves after `ms`, or earlier when a retry may succeed. */
  async wait(ms: number, error: KubeError | undefined, signal: AbortSignal): Promise<void> {
    const { rights } = this.#context;
    const unsubscribe = error?.right && rights.onGranted(error.right, () => this.#end?.());
    await this.#wait(ms, signal);
    unsubscribe?.();
  }

  /** The kind is missing: its changes end pauses from now on. */
  listenForKind(): void {
    this.#unsubscribeKind ??= this.#context.kinds.onChange(this.#query.gvk, () => {
      this.#delay.reset();
      this.#end?.();
    });
  }

  stopListening(): void {
    this.#unsubscribeKind?.();
    this.#unsubscribeKind = undefined;
  }

  #boundsAfter(error: KubeError | undefined, failures: number): DelayBounds {
    const { unreachableMaxDelayMs, deniedRetryMs } = this.#context.settings;
    const askedMs = Math.min((error?.retryAfterSeconds ?? 0) * 1_000, longestAskedDelayMs);
    // A server that has just started may not have loaded its roles yet.
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

interface RetryDelayOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: ResolvedInformerSettings;
}

/** Lower bound of a delay (such as Retry-After) and upper bound, which the lower one overrides. */
interface DelayBounds {
  /** @default 0 */
  readonly atLeastMs?: number;
  /** @default Infinity */
  readonly atMostMs?: number;
}

/** Exponential delays with jitter of up to 100 %, reset after a time without failures. */
export class RetryDelay {
  readonly #options: RetryDelayOptions;
  #failures = 0;
  /** Time at which the last delay ended. */
  #quietSinceMs = 0;

  constructor(options: RetryDelayOptions) {
    this.#options = options;
  }

  /** Consecutive failures. */
  get failures(): number {
    return this.#failures;
  }

  /** Resets the delays, because the cause has changed. */
  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure. Returns the number of consecutive failures. */
  fail(): number {
    const { clock, settings } = this.#options;
    const quietMs = clock.monotonicMs() - this.#quietSinceMs;
    if (quietMs >= settings.forgetFailuresAfterMs) this.#failures = 0;
    this.#failures += 1;
    return this.#failures;
  }

  /** The next delay in ms. It does not count as time without failures. */
  delayMs({ atLeastMs = 0, atMostMs = Infinity }: DelayBounds = {}): number {
    const { clock, random, settings } = this.#options;
    const growingMs = backoffMs(this.#failures - 1, settings) * (1 + random.fraction());
    const delayMs = Math.max(Math.min(growingMs, atMostMs), atLeastMs);
    this.#quietSinceMs = clock.monotonicMs() + delayMs;
    return delayMs;
  }
}
