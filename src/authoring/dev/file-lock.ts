import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { readRegularFile } from '#files';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { Random } from '#util/random.ts';

/** The right of this process to write a file, until it is released. */
export interface FileLock {
  release(): Promise<void>;
}

/** The process in a lock file. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** When it was started, as the system reports it: process ids are reused. Undefined: unknown. */
  readonly started?: string;
}

/** Another process has locked the file. */
export class FileLockedError extends HomeostatError<'file-locked'> {
  readonly owner: LockOwner;
  /** The lock file. */
  readonly lockPath: string;
  constructor(path: string, lockPath: string, owner: LockOwner) {
    super('file-locked', `Process ${owner.pid} on "${owner.host}" has locked "${path}"`);
    this.owner = owner;
    this.lockPath = lockPath;
  }
}

/**
 * Locks a file by another one beside it (`<path>.lock`). The lock of a process that has ended is replaced; the lock of a process on another
 * machine is always respected.
 * @throws FileLockedError
 * @throws Error of `node:fs` if the lock file cannot be written.
 */
export async function lockFile(path: string, random: Random): Promise<FileLock> {
  const lockPath = `${path}.lock`;
  const own = JSON.stringify(await lockOwner(process.pid));
  const draft = `${lockPath}.${random.text(12, 'abcdefghijklmnopqrstuvwxyz')}`;
  while (!(await createAtomically({ path: lockPath, text: own, draft }))) {
    const text = await readIfExists(lockPath);
    const owner = text === undefined ? undefined : parseOwner(text);
    if (owner !== undefined && (await mayBeAlive(owner)))
      throw new FileLockedError(path, lockPath, owner);
    if (text !== undefined) await removeStale(lockPath, text, random);
  }
  return {
    async release() {
      if ((await readIfExists(lockPath)) === own) await rm(lockPath, { force: true });
    },
  };
}

interface Creation {
  readonly path: string;
  readonly text: string;
  /** A unique temporary path in the same folder. */
  readonly draft: string;
}

/** Writes a lock atomically: no process reads one without its owner. False: a lock exists. */
async function createAtomically({ path, text, draft }: Creation): Promise<boolean> {
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw error;
      // Some file systems do not support hard links.
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

/** Only while the lock is unchanged: a slow process must not remove the lock of the next one. */
async function removeStale(lockPath: string, stale: string, random: Random): Promise<void> {
  const removing = await lockUnlessOwned(lockPath, random);
  try {
    if (removing !== undefined && (await readIfExists(lockPath)) === stale)
      await rm(lockPath, { force: true });
  } finally {
    await removing?.release();
  }
}

async function lockUnlessOwned(path: string, random: Random): Promise<FileLock | undefined> {
  try {
    return await lockFile(path, random);
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error;
    return undefined;
  }
}

async function lockOwner(pid: number): Promise<LockOwner> {
  const started = await processStart(pid);
  return { pid, host: hostname(), ...(started === undefined ? {} : { started }) };
}

async function mayBeAlive({ pid, host, started }: LockOwner): Promise<boolean> {
  if (host !== hostname()) return true;
  const startedNow = await processStart(pid);
  if (started !== undefined && startedNow !== undefined) return started === startedNow;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists and belongs to another user.
    return codeOf(error) === 'EPERM';
  }
}

/** In ticks since the machine was started. Undefined on other systems than Linux. */
async function processStart(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program is the second field, in brackets, with any characters; the start is the 22nd field.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

function parseOwner(text: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(text) as LockOwner;
    return Number.isInteger(owner.pid) && owner.pid > 0 ? owner : undefined;
  } catch {
    return undefined;
  }
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readRegularFile(path, 1);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
