/**
 * Result of a reconcile: what the metrics count, why it is incomplete, and when the key runs again without an event. The controller turns it
 * into delays, metrics and log lines.
 */
export type ReconcileResult = Outcome & {
  /** The key also runs at this time, whatever the outcome, and needs no token of the retry budget. @default undefined: at the next event */
  readonly due?: Due;
};

/** A time at which a key runs. */
export interface Due {
  readonly afterMs: number;
  /** @default normal */
  readonly priority?: Priority;
}

/** The outcome of a reconcile. */
export type Outcome =
  /** Nothing is left to do. */
  | { readonly kind: 'done' }
  /**
   * Incomplete, and no event may signal the end of the cause. Run again after this delay, or later if the retry
   * budget is exhausted (see RetryBudget). Resets the key's failure count.
   */
  | { readonly kind: 'requeue'; readonly afterMs: number; readonly reason: string }
  /**
   * Failed until the input changes, and already reported. Counted as a terminal error (as in controller-runtime), but
   * run again after this delay. Resets the key's failure count.
   */
  | { readonly kind: 'failed'; readonly afterMs: number; readonly reason: string }
  /**
   * Blocked by a condition that clears itself, but not soon. Retried with exponential delays between both bounds,
   * counted as a failure.
   */
  | {
      readonly kind: 'retry';
      readonly baseDelayMs: number;
      readonly maxDelayMs: number;
      readonly reason: string;
      /** What it needs was unreachable: it also runs again with `Controller.retryNow`. @default false */
      readonly isUnreachable?: boolean;
    }
  /** An error: retried with exponential delays. A TerminalError is not retried. As if it were thrown. */
  | { readonly kind: 'error'; readonly error: unknown };

/** Reconciles one key, level-triggered: it reads the current state and ignores which event triggered it. */
export interface Reconciler {
  /**
   * Never called concurrently for one key.
   * @param key `namespace/name`
   * @throws any error, as the outcome `error`
   */
  reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult>;
}

/** What a reconcile gets from its worker. */
export interface ReconcileContext {
  readonly signal: AbortSignal;
  /**
   * Yields the worker to keys that have not started, and resolves when this reconcile may continue. Call it before
   * work of low urgency, such as status writes. No other reconcile of the key starts meanwhile.
   * @returns `superseded`: the key was added again since the reconcile started, so another one follows at once. Work
   * that only reports state can be left to it.
   */
  yieldWorker(): Promise<'current' | 'superseded'>;
}

/** Priority of a key. `low`: initial lists, resyncs, reloads, and events that affect many resources. */
export type Priority = 'normal' | 'low';
