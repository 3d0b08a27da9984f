import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../patience.ts';
import { isAlive } from './folder-lock.ts';

/** Waits until none of the processes exists. @throws Error that names those left after `patienceMs`. */
export function untilDead(pids: readonly number[]): Promise<void> {
  return untilNone(() => pids.filter(isAlive));
}

/** Waits until a folder is gone. @throws Error when it is still there after `patienceMs`. */
export function untilRemoved(folder: string): Promise<void> {
  return untilNone(() => [folder].filter(existsSync));
}

/** The end of a process that is not our child gives no sign, so it has to be looked for. */
async function untilNone(left: () => readonly unknown[]): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (left().length > 0) {
    if (performance.now() > deadline) throw new Error(`Still there: ${left().join(', ')}`);
    await sleep(20);
  }
}
