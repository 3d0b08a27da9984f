import type { Sandbox } from '../sandbox/index.ts';
import type { Clock } from '../util/clock.ts';
import { writeFileAtomically } from './atomic-file.ts';

export interface WorldKeeperOptions {
  readonly sandbox: Pick<Sandbox, 'worldText' | 'onChange'>;
  readonly path: string;
  readonly clock: Clock;
  /** Told of the first save that fails, and when one is well again (undefined). Meanwhile it is tried again and again. */
  readonly onTrouble: (trouble: SaveTrouble | undefined) => void;
}

/** Why a world is not saved. */
export interface SaveTrouble {
  readonly error: unknown;
  /** Since when what has changed is not saved, by the wall clock. */
  readonly unsavedSinceMs: number;
}

/** How long after a change the world is saved, at least. */
const delayMs = 200;
/** How long after a save that failed. */
const troubledDelayMs = 2_000;

/** Saves a sandbox's world a moment after each change. Whoever is killed loses that moment, never the file. */
export class WorldKeeper {
  readonly #options: WorldKeeperOptions;
  readonly #unsubscribe: () => void;
  #cancel: (() => void) | undefined;
  /** Since when something has changed that is not saved. */
  #unsavedSinceMs: number | undefined;
  #trouble: SaveTrouble | undefined;
  #saving: Promise<void> | undefined;

  constructor(options: WorldKeeperOptions) {
    this.#options = options;
    this.#unsubscribe = options.sandbox.onChange(() => this.#changed());
  }

  /** Saves what is not saved yet, and ends. Resolves with why it cannot. */
  async stop(): Promise<SaveTrouble | undefined> {
    this.#unsubscribe();
    this.#cancel?.();
    await this.#saving;
    if (this.#unsavedSinceMs !== undefined) await this.#save();
    return this.#trouble;
  }

  #changed(): void {
    this.#unsavedSinceMs ??= this.#options.clock.nowMs();
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
    if (this.#unsavedSinceMs === undefined) return;
    // A large world must not be written all the time.
    const tookMs = clock.monotonicMs() - startMs;
    const leastMs = this.#trouble === undefined ? delayMs : troubledDelayMs;
    this.#schedule(Math.max(leastMs, 10 * tookMs));
  }

  async #save(): Promise<void> {
    const { sandbox, path, clock } = this.#options;
    const unsavedSinceMs = this.#unsavedSinceMs ?? clock.nowMs();
    this.#unsavedSinceMs = undefined;
    try {
      await writeFileAtomically(path, sandbox.worldText());
      this.#note(undefined);
    } catch (error) {
      this.#unsavedSinceMs = unsavedSinceMs;
      this.#note({ error, unsavedSinceMs });
    }
  }

  #note(trouble: SaveTrouble | undefined): void {
    const isNews = (trouble === undefined) !== (this.#trouble === undefined);
    this.#trouble = trouble;
    if (isNews) this.#options.onTrouble(trouble);
  }
}
