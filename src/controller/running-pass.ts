import type { ReconcileContext } from './reconciler.ts';

interface RunningPassOptions {
  readonly signal: AbortSignal;
  /** Runs the reconcile; never rejects. */
  readonly run: (context: ReconcileContext) => Promise<void>;
  /** Queues the pass for a worker again. False: no worker is whenDetached, so it continues at once. */
  readonly onPark: () => boolean;
  /** Returns whether another pass of the key follows at once. */
  readonly isSuperseded: () => boolean;
}

/** A pass that can yield its worker and continue with another one. */
export class RunningPass {
  readonly #ended: Promise<void>;
  #detached = Promise.withResolvers<void>();
  #resume: () => void = () => undefined;

  constructor({ signal, run, onPark, isSuperseded }: RunningPassOptions) {
    this.#ended = run({
      signal,
      yieldWorker: () =>
        new Promise((resolve) => {
          this.#resume = () => resolve(isSuperseded() ? 'superseded' : 'current');
          if (onPark()) this.#detached.resolve();
          else this.#resume();
        }),
    });
  }

  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Continues a pass that has yielded its worker. */
  resume(): void {
    this.#detached = Promise.withResolvers();
    this.#resume();
  }

  /** Resolves when the pass ends or yields its worker. */
  async whenDetached(): Promise<'ended' | 'parked'> {
    return Promise.race([
      this.#ended.then(() => 'ended' as const),
      this.#detached.promise.then(() => 'parked' as const),
    ]);
  }
}
