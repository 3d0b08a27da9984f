import { setTimeout as sleep } from 'node:timers/promises';
import { hasChildProcess, isIdle } from './idle.ts';
import { VirtualClock } from './virtual-clock.ts';

/** Between looks at a process that is at work, in ms of real time. */
const pollMs = 2;

/**
 * The time of a sandbox and of the runtimes in this process: it runs like the real one while anything is under way, and skips to the
 * next timer as soon as nothing is. A test waits for what comes, however late, and no wait takes longer than the work in it.
 */
export class VirtualTime {
  readonly clock = new VirtualClock(hasChildProcess);
  readonly #stopper = new AbortController();
  #activity = 0;
  /** Those for whom time stands still. */
  #holds = 0;
  #ended: Promise<void> | undefined;

  start(): void {
    this.#ended = this.#flow(this.#stopper.signal);
  }

  async stop(): Promise<void> {
    this.#stopper.abort();
    await this.#ended;
    this.clock.stop();
  }

  /** Something happens that no timer of the clock shows. */
  note(): void {
    this.#activity++;
  }

  /** False while a process runs that this one has started: then time is the real one. */
  get isVirtual(): boolean {
    return !hasChildProcess();
  }

  isIdle(): Promise<boolean> {
    return isIdle(() => this.#activity + this.clock.activity);
  }

  /** Resolves with `ms` when so much time has passed, and all that was due until then is done. */
  async pass(ms: number): Promise<number> {
    await new Promise<void>((resolve) => {
      this.clock.after(ms, () => {
        this.#holds++;
        resolve();
      });
    });
    while (!(await this.isIdle())) await sleep(pollMs);
    // Only when the caller has seen the harness of that moment.
    setImmediate(() => {
      this.#holds--;
    });
    return ms;
  }

  async #flow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Looked at in each turn of the loop, so that only a process without turns stands still.
      this.clock.monotonicMs();
      const isFree = (await this.isIdle()) && this.#holds === 0;
      if (isFree && !signal.aborted && this.clock.skipToNextTimer()) continue;
      await sleep(pollMs);
    }
  }
}
