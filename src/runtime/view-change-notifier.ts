import type { Clock } from '../util/clock.ts';

/** Minimum time between notifications of changed counts. */
const countsIntervalMs = 1_000;
/** Minimum time between checks whether a status shows the views. */
const checkIntervalMs = 200;

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

  /** As {@link subscribe}, for checks that take longer: some time later, and less often. */
  subscribeChecks(check: () => void): () => void {
    let cancel: (() => void) | undefined;
    const unsubscribe = this.subscribe(() => {
      cancel ??= this.#clock.after(checkIntervalMs, () => {
        cancel = undefined;
        check();
      });
    });
    return () => {
      unsubscribe();
      cancel?.();
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
