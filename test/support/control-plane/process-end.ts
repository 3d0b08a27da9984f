import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './folder-lock.ts';

/** Waits until none of the processes exists. @throws Error that names those left after the limit. */
export function untilDead(pids: readonly number[], limitMs = 10_000): Promise<void> {
  return untilNone(() => pids.filter(isAlive), limitMs);
}

/** Waits until a folder is gone. @throws Error when it is still there after the limit. */
export function untilRemoved(folder: string, limitMs = 10_000): Promise<void> {
  return untilNone(() => [folder].filter(existsSync), limitMs);
}

/** The end of a process that is not our child gives no sign, so it has to be looked for. */
async function untilNone(left: () => readonly unknown[], limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (left().length > 0) {
    if (performance.now() > deadline) throw new Error(`Still there: ${left().join(', ')}`);
    await sleep(20);
  }
}
