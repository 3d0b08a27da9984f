import type { Sandbox } from '../sandbox/index.ts';
import type { Clock } from '../util/clock.ts';
import { writeFileAtomically } from './atomic-file.ts';

export interface WorldKeeperOptions {
  readonly sandbox: Pick<Sandbox, 'worldText' | 'onChange'>;
  readonly path: string;
  readonly clock: Clock;
  /** Told of a save that failed; the next change tries again. */
  readonly onFailure: (error: unknown) => void;
}

/** How long after a change the world is saved, at least. */
const delayMs = 200;

/** Saves a sandbox's world a moment after each change. Whoever is killed loses that moment, never the file. */
export class WorldKeeper {
  readonly #options: WorldKeeperOptions;
  readonly #unsubscribe: () => void;
  #cancel: (() => void) | undefined;
  #isStale = false;
  #saving: Promise<void> | undefined;

  constructor(options: WorldKeeperOptions) {
    this.#options = options;
    this.#unsubscribe = options.sandbox.onChange(() => this.#changed());
  }

  /** Saves what is not saved yet, and ends. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#cancel?.();
    await this.#saving;
    if (this.#isStale) await this.#save();
  }

  #changed(): void {
    this.#isStale = true;
    this.#schedule(delayMs);
  }

  #schedule(ms: number): void {
    if (this.#saving !== undefined) return;
    this.#cancel ??= this.#options.clock.after(ms, () => {
      this.#cancel = undefined;
      this.#saving = this.#saveAndGoOn();
    });
  }

  async #saveAndGoOn(): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    await this.#save();
    this.#saving = undefined;
    // A large world must not be written all the time.
    const tookMs = clock.monotonicMs() - startMs;
    if (this.#isStale) this.#schedule(Math.max(delayMs, 10 * tookMs));
  }

  async #save(): Promise<void> {
    const { sandbox, path, onFailure } = this.#options;
    this.#isStale = false;
    try {
      await writeFileAtomically(path, sandbox.worldText());
    } catch (error) {
      this.#isStale = true;
      onFailure(error);
    }
  }
}
