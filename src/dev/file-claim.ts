import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { HomeostatError } from '../util/homeostat-error.ts';
import type { Random } from '../util/random.ts';

/** That only this process writes a file, until it lets go. */
export interface FileClaim {
  release(): Promise<void>;
}

/** Which process has claimed a file, as the file beside it says. */
export interface ClaimHolder {
  readonly pid: number;
  readonly host: string;
  /** When it was started, in the words of its system: numbers of processes are used again. Undefined: that cannot be told. */
  readonly started?: string;
}

/** Another process writes that file. */
export class FileClaimedError extends HomeostatError<'file-claimed'> {
  readonly holder: ClaimHolder;
  /** The file that says so. */
  readonly lockPath: string;
  constructor(path: string, lockPath: string, holder: ClaimHolder) {
    super('file-claimed', `Process ${holder.pid} on "${holder.host}" has claimed "${path}"`);
    this.holder = holder;
    this.lockPath = lockPath;
  }
}

/**
 * Claims a file by another one beside it (`<path>.lock`). The claim of a process that is gone is taken over; what a process on another
 * machine claims is believed.
 * @throws FileClaimedError
 * @throws Error of `node:fs` when nothing can be written there.
 */
export async function claimFile(path: string, random: Random): Promise<FileClaim> {
  const lockPath = `${path}.lock`;
  const own = JSON.stringify(await holderOf(process.pid));
  const draft = `${lockPath}.${random.text(12, 'abcdefghijklmnopqrstuvwxyz')}`;
  while (!(await createWhole({ path: lockPath, text: own, draft }))) {
    const text = await readIfThere(lockPath);
    const holder = text === undefined ? undefined : parseHolder(text);
    if (holder !== undefined && (await mayLive(holder)))
      throw new FileClaimedError(path, lockPath, holder);
    if (text !== undefined) await removeStale(lockPath, text, random);
  }
  return {
    async release() {
      if ((await readIfThere(lockPath)) === own) await rm(lockPath, { force: true });
    },
  };
}

interface Creation {
  readonly path: string;
  readonly text: string;
  /** A name of our own beside it. */
  readonly draft: string;
}

/** Whole at once: nobody reads a claim without its holder. False: there is one. */
async function createWhole({ path, text, draft }: Creation): Promise<boolean> {
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw error;
      // Some file systems know no second names.
      return writeFile(path, text, { mode: 0o600, flag: 'wx' });
    });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** One at a time, and only while it still says so: whoever is slow must not remove the claim of the next one. */
async function removeStale(lockPath: string, stale: string, random: Random): Promise<void> {
  const removing = await claimUnlessHeld(lockPath, random);
  try {
    if (removing !== undefined && (await readIfThere(lockPath)) === stale)
      await rm(lockPath, { force: true });
  } finally {
    await removing?.release();
  }
}

async function claimUnlessHeld(path: string, random: Random): Promise<FileClaim | undefined> {
  try {
    return await claimFile(path, random);
  } catch (error) {
    if (!(error instanceof FileClaimedError)) throw error;
    return undefined;
  }
}

async function holderOf(pid: number): Promise<ClaimHolder> {
  const started = await startOf(pid);
  return { pid, host: hostname(), ...(started === undefined ? {} : { started }) };
}

async function mayLive({ pid, host, started }: ClaimHolder): Promise<boolean> {
  if (host !== hostname()) return true;
  const startedNow = await startOf(pid);
  if (started !== undefined && startedNow !== undefined) return started === startedNow;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and somebody else's.
    return codeOf(error) === 'EPERM';
  }
}

/** In ticks since the machine was started; Linux tells it. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program comes second, in brackets, and may hold anything; the start is the 22nd field.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

function parseHolder(text: string): ClaimHolder | undefined {
  try {
    const holder = JSON.parse(text) as ClaimHolder;
    return Number.isInteger(holder.pid) && holder.pid > 0 ? holder : undefined;
  } catch {
    return undefined;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
