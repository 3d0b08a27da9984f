import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Sandbox } from '#sandbox';
import type { Clock } from '#util/clock.ts';

export interface SnapshotSaverOptions {
  readonly sandbox: Pick<Sandbox, 'snapshotText' | 'onChange'>;
  readonly path: string;
  readonly clock: Clock;
  /** Called for the first save that fails, and with undefined when one succeeds again. Saves are retried meanwhile. */
  readonly onStateChange: (failure: SaveFailure | undefined) => void;
}

/** Why the snapshot is not saved. */
export interface SaveFailure {
  readonly error: unknown;
  /** Time of the first change that is not saved, in Unix ms. */
  readonly unsavedSinceMs: number;
}

/** Minimum delay between a change and the save. */
const saveDelayMs = 200;
/** Delay after a failed save. */
const retryDelayMs = 2_000;

/** Saves the snapshot of a sandbox shortly after each change. A kill loses the last changes, never the file. */
export class SnapshotSaver {
  readonly #options: SnapshotSaverOptions;
  readonly #unsubscribe: () => void;
  #cancel: (() => void) | undefined;
  /** Time of the first change that is not saved. */
  #unsavedSinceMs: number | undefined;
  #failure: SaveFailure | undefined;
  #saving: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: SnapshotSaverOptions) {
    this.#options = options;
    this.#unsubscribe = options.sandbox.onChange(() => this.#changed());
  }

  /** Saves pending changes and stops. Resolves with the failure if they cannot be saved. */
  async stop(): Promise<SaveFailure | undefined> {
    this.#isStopped = true;
    this.#unsubscribe();
    this.#cancel?.();
    await this.#saving;
    if (this.#unsavedSinceMs !== undefined) await this.#save();
    return this.#failure;
  }

  #changed(): void {
    this.#unsavedSinceMs ??= this.#options.clock.nowMs();
    this.#schedule(saveDelayMs);
  }

  #schedule(ms: number): void {
    // A save that is under way at the end must not plan the next one: it would keep the process alive.
    if (this.#isStopped || this.#saving !== undefined) return;
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
    // A large snapshot must not be written continuously.
    const tookMs = clock.monotonicMs() - startMs;
    const leastMs = this.#failure === undefined ? saveDelayMs : retryDelayMs;
    this.#schedule(Math.max(leastMs, 10 * tookMs));
  }

  async #save(): Promise<void> {
    const { sandbox, path, clock } = this.#options;
    const unsavedSinceMs = this.#unsavedSinceMs ?? clock.nowMs();
    this.#unsavedSinceMs = undefined;
    try {
      await writeFileAtomically(path, sandbox.snapshotText());
      this.#note(undefined);
    } catch (error) {
      this.#unsavedSinceMs = unsavedSinceMs;
      this.#note({ error, unsavedSinceMs });
    }
  }

  #note(failure: SaveFailure | undefined): void {
    const isChanged = (failure === undefined) !== (this.#failure === undefined);
    this.#failure = failure;
    if (isChanged) this.#options.onStateChange(failure);
  }
}

/**
 * Writes a file that only its owner can read, so that a process that is killed meanwhile leaves the old text or the new one, never a part.
 * One call for a path at a time.
 * @throws Error of `node:fs`; then the old file is as it was.
 */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  // Always the same name, so that the file of a killed process is overwritten.
  const draft = join(folder, `.${basename(path)}.tmp`);
  try {
    await writeAndSync(draft, text);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/**
 * Makes a folder and those above it, where they are not there.
 * @throws Error of `node:fs`
 */
export async function makeFolder(path: string): Promise<void> {
  // Folder by folder: Node's own recursive way never ends where a file system denies that there could be one (`/proc`).
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The text must be on the disk before the name points to it. */
async function writeAndSync(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
