import type { Clock } from '#util/clock.ts';

/** Minimum time between notifications of changed counts. */
const countsIntervalMs = 1_000;
/** Steps that follow each other within this time are one change of a status. */
const statusDelayMs = 200;

/** Called by what a definition is made of. Nothing is compared: its controller looks again. */
export interface ViewListener {
  /** Work waits until its controller has looked again. */
  awaited(): void;
  /** Its view has changed; users may wait for it. */
  changed(): void;
  /** Only counts in its view may have changed, which is frequent. */
  counted(): void;
}

/** Notifies listeners that a view may have changed: soon, and once for many changes. */
export class ViewChangeNotifier {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #isScheduled = false;
  #cancelLater: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void {
    // Wrapped: the same function may be subscribed twice.
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** The listener of one object: also runs its key again, after the delay. */
  listenerFor(enqueueAfter: (delayMs: number) => void): ViewListener {
    return {
      awaited: () => enqueueAfter(0),
      changed: () => {
        enqueueAfter(statusDelayMs);
        this.notify();
      },
      counted: () => {
        enqueueAfter(countsIntervalMs);
        this.notifyLater();
      },
    };
  }

  /** Notifies soon, for changes that users wait for. */
  notify(): void {
    if (this.#isScheduled || this.#listeners.size === 0) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Notifies with a delay, for frequent changes. */
  notifyLater(): void {
    if (this.#cancelLater !== undefined || this.#listeners.size === 0) return;
    this.#cancelLater = this.#clock.after(countsIntervalMs, () => {
      this.#cancelLater = undefined;
      this.notify();
    });
  }

  /** Cancels delayed notifications. */
  stop(): void {
    this.#cancelLater?.();
    this.#cancelLater = undefined;
  }
}
