import { HttpTransportError } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';

/** One time-out for all that an exchange needs: a token, redirects, a second attempt. Begins when it is created. */
export class Deadline {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #endMs: number;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#endMs = clock.monotonicMs() + timeoutMs;
  }

  /** @throws HttpTransportError `timeout`: none is left, so nothing more is sent */
  get leftMs(): number {
    const leftMs = this.#endMs - this.#clock.monotonicMs();
    if (leftMs <= 0) throw this.error(false);
    return leftMs;
  }

  /** The result of what begins now, if it is there in time. @throws HttpTransportError `timeout`; errors of `work` */
  async within<Result>(work: () => Promise<Result>): Promise<Result> {
    const late = Promise.withResolvers<never>();
    const cancel = this.#clock.after(this.leftMs, () => late.reject(this.error(false)));
    try {
      return await Promise.race([work(), late.promise]);
    } finally {
      cancel();
    }
  }

  /** The text is the same each time: it is part of a status. */
  error(mayHaveArrived: boolean, cause?: unknown): HttpTransportError {
    const message = `No whole answer within ${this.#timeoutMs} ms`;
    return new HttpTransportError('timeout', message, { mayHaveArrived, cause });
  }
}
