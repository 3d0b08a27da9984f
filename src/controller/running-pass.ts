import type { Turn } from './reconciler.ts';

export interface RunningPassOptions {
  readonly signal: AbortSignal;
  /** Does everything; never rejects. */
  readonly run: (turn: Turn) => Promise<void>;
  /** Puts the pass in line for a worker again. False: there will be none any more, so it goes on at once. */
  readonly onPark: () => boolean;
  /** Will there be another pass at once when this one has ended? */
  readonly isOvertaken: () => boolean;
}

/** A pass that a worker may leave in the middle and another one takes up again. */
export class RunningPass {
  readonly #ended: Promise<void>;
  #left = Promise.withResolvers<void>();
  #resume: () => void = () => undefined;

  constructor({ signal, run, onPark, isOvertaken }: RunningPassOptions) {
    this.#ended = run({
      signal,
      giveWay: () =>
        new Promise((resolve) => {
          this.#resume = () => resolve(isOvertaken() ? 'overtaken' : 'free');
          if (onPark()) this.#left.resolve();
          else this.#resume();
        }),
    });
  }

  /** Resolves when the pass has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Lets a pass that has given way go on. */
  resume(): void {
    this.#left = Promise.withResolvers();
    this.#resume();
  }

  /** Resolves when it needs no worker for now: it has ended or given way. */
  async left(): Promise<'ended' | 'parked'> {
    return Promise.race([
      this.#ended.then(() => 'ended' as const),
      this.#left.promise.then(() => 'parked' as const),
    ]);
  }
}
