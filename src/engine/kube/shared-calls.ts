import { abortedError } from './errors.ts';

interface Call<T> {
  readonly result: Promise<T>;
  readonly abort: AbortController;
  users: number;
}

/**
 * Concurrent callers with the same key share one call. Each caller can abort on its own; the call is aborted when all
 * callers have.
 */
export class SharedCalls<T> {
  readonly #calls = new Map<string, Call<T>>();

  /** @throws KubeError `aborted` when the signal fires, and whatever `work` throws. */
  async run(
    key: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (signal.aborted) throw abortedError(signal.reason);
    const call = this.#calls.get(key) ?? this.#start(key, work);
    call.users += 1;
    try {
      return await untilAborted(call.result, signal);
    } finally {
      call.users -= 1;
      if (call.users === 0) this.#detach(key, call);
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Call<T> {
    const abort = new AbortController();
    const call: Call<T> = { result: work(abort.signal), abort, users: 0 };
    this.#calls.set(key, call);
    // Later callers start a new call.
    const forget = () => this.#detach(key, call);
    call.result.then(forget, forget);
    return call;
  }

  #detach(key: string, call: Call<T>): void {
    if (this.#calls.get(key) === call) this.#calls.delete(key);
    if (call.users === 0) call.abort.abort();
  }
}

/** Waits for `result` until the signal fires. @throws KubeError `aborted`, and whatever `result` rejects with. */
export function untilAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      // Nothing awaits the result any more.
      result.catch(ignore);
      reject(abortedError(signal.reason));
      return;
    }
    const onAbort = () => reject(abortedError(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    const release = () => signal.removeEventListener('abort', onAbort);
    result.then(resolve, reject).then(release, release);
  });
}

function ignore(): void {
  // Other callers receive the error.
}
