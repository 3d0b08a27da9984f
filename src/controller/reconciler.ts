/** What a pass ends with: data, not an exception. Failures are thrown; the worker loop turns both into retries. CONTRACT. */
export type Outcome =
  | { readonly kind: 'done' }
  /**
   * Something is wrong that no event may tell the end of: run again after so long, or later if too many keys of the definition
   * are in trouble (see RetryBudget). The key's failure count is reset.
   */
  | { readonly kind: 'requeue'; readonly afterMs: number; readonly reason: string }
  /**
   * Only another input mends it, and the pass has told of it: counted as an error that is not retried (the terminal error of
   * controller-runtime), looked at again after so long all the same. The key's failure count is reset.
   */
  | { readonly kind: 'failed'; readonly afterMs: number; readonly reason: string }
  /** Something in the way that goes by itself, but not soon: growing delays from `firstMs` to `mostMs`, counted like failures. */
  | {
      readonly kind: 'retry';
      readonly firstMs: number;
      readonly mostMs: number;
      readonly reason: string;
    };

/** Reconciles one key, level-based: it reads the world anew and never trusts the event that woke it. */
export interface Reconciler {
  /**
   * Never called for two passes of one key at once.
   * @param key `namespace/name`
   * @throws TerminalError: counted and logged, not retried. Anything else: retried with growing delays.
   */
  reconcile(key: string, turn: Turn): Promise<Outcome>;
}

/** A pass's turn with a worker. */
export interface Turn {
  readonly signal: AbortSignal;
  /**
   * Gives the worker to keys that have not had it yet, and resolves when this pass may go on. For what people wait for least:
   * the world comes before the report on it (engine.md section 2). The pass stays the only one of its key.
   * @returns `overtaken`: the key has been added since the pass began, so another pass follows as soon as this one has ended, and
   * what only tells of the state of things may be left to that.
   */
  giveWay(): Promise<'free' | 'overtaken'>;
}

/** How urgent a key is. `low`: initial list, resync, reload, and wakes from something that many resources share. */
export type Priority = 'normal' | 'low';
