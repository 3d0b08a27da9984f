import { setImmediate as nextTurn } from 'node:timers/promises';

/** Turns of the event loop: in each, what was written to a socket of this process in the turn before is read. */
const quietTurns = 25;

/**
 * Is nothing under way in this process? True when a row of turns of the event loop brings no activity, and no file operation, look-up
 * or write to a socket waits for its end. Timers that are not due yet do not count, and how loaded the machine is makes no difference.
 * False while a process runs that this one has started: what that does is not seen.
 * @param activity a number that grows with whatever happens
 */
export async function isIdle(activity: () => number): Promise<boolean> {
  const before = activity();
  for (let turn = 0; turn < quietTurns; turn++) {
    await nextTurn();
    if (activity() !== before) return false;
  }
  return !process.getActiveResourcesInfo().some((name) => isRequest(name) || isChild(name));
}

/** Does a process run that this one has started? */
export function hasChildProcess(): boolean {
  return process.getActiveResourcesInfo().some(isChild);
}

function isRequest(resource: string): boolean {
  return /Req|ConnectWrap|WriteWrap|ShutdownWrap/.test(resource);
}

function isChild(resource: string): boolean {
  return resource === 'ProcessWrap';
}
