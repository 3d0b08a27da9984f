import type { Clock } from '../../util/clock.ts';

/** Calls `onIdle` once when nothing touched it for `timeoutMs`. {@link stop} it. */
export class IdleWatchdog {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #onIdle: () => void;
  #touchedMs: number;
  #cancel: () => void;

  constructor(clock: Clock, timeoutMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#onIdle = onIdle;
    this.#touchedMs = clock.monotonicMs();
    this.#cancel = clock.after(timeoutMs, () => this.#look());
  }

  /** Cheap: called for every piece of a stream. */
  touch(): void {
    this.#touchedMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    const leftMs = this.#touchedMs + this.#timeoutMs - this.#clock.monotonicMs();
    if (leftMs <= 0) this.#onIdle();
    else this.#cancel = this.#clock.after(leftMs, () => this.#look());
  }
}
