import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `work` while holding a lock folder, so that of several processes only one works at a time.
 * A lock whose holder died is taken over. Two that take over at the same moment may both work: the
 * work must bear that (ours puts files in place by rename).
 */
export async function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  while (!tryLock(folder)) {
    if (isAbandoned(folder)) rmSync(folder, { recursive: true, force: true });
    else await sleep(100);
  }
  try {
    return await work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tryLock(folder: string): boolean {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(folder, 'pid'), String(process.pid));
  return true;
}

function isAbandoned(folder: string): boolean {
  try {
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    return pid > 0 ? !isAlive(pid) : isOld(folder);
  } catch {
    // No pid yet: its maker is between two calls, or was killed there.
    return isOld(folder);
  }
}

function isOld(folder: string): boolean {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Date.now() - made > 10_000;
}

/** Does a process of this id exist? */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
