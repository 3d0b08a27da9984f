/**
 * May this process write? CONTRACT between leader election and everything that writes (engine.md section 6). A process that was the leader
 * and is not any more ends: nobody is told of a loss, and the fence before every request holds meanwhile.
 */
export interface Leadership {
  readonly isLeading: boolean;
  /** Resolves when this process leads; rejects when the signal aborts. */
  whenLeading(signal: AbortSignal): Promise<void>;
}

/** For one process alone. */
export const soleLeader: Leadership = { isLeading: true, whenLeading: () => Promise.resolve() };
