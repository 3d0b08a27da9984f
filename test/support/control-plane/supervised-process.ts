import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Writable } from 'node:stream';

/**
 * The shell becomes the program (`exec`), so the pid we hold is the program's own. Its watcher stays
 * beside it, blocked on a pipe of which we hold the other end: a line means that the program has
 * ended, end of file means that we are gone, however that came about, and then the whole group dies.
 */
const watchAndBecome = `
(trap '' TERM INT HUP; read -r _ <&3 || kill -KILL 0) </dev/null >/dev/null 2>&1 &
exec "$@" 3<&-`;

/** For a program that reads the pipe itself. */
const become = 'exec "$@"';

export interface LaunchOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** File that gets stdout and stderr; without it they go to our stderr. */
  readonly logFile?: string;
  /** Called with each piece of stdout, in place of the above. */
  readonly onOutput?: (text: string) => void;
  /** Called with each piece of stderr, in place of the above. */
  readonly onErrors?: (text: string) => void;
  readonly cwd?: string;
  /** Added to our own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Does our process stay up for as long as this one runs? @default false */
  readonly keepsUsAlive?: boolean;
  /** The program itself reads the pipe, as its file descriptor 3, and acts on its end. @default false */
  readonly keepsOwnLifeline?: boolean;
}

/** How a process ended: an exit code or the signal that killed it. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that never outlives this one, not even when this one is killed by SIGKILL. */
export interface SupervisedProcess {
  readonly pid: number;
  /** Resolves when the process has ended and all it wrote was handed over; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  isRunning(): boolean;
  /** SIGTERM, then SIGKILL after `graceMs`; 0 kills at once. Resolves when the process has ended. */
  stop(graceMs: number): Promise<ProcessEnd>;
}

/** Starts a program in a process group of its own, under a watcher that dies with us. */
export async function launch(options: LaunchOptions): Promise<SupervisedProcess> {
  const child = spawnUnderWatcher(options);
  const running = supervise(child);
  // `once` rejects when the child emits an error instead.
  await once(child, 'spawn');
  return running;
}

/** The same for those who cannot wait for the start: a shell that cannot be started is then an uncaught error. */
export function launchNow(options: LaunchOptions): SupervisedProcess {
  return supervise(spawnUnderWatcher(options));
}

function spawnUnderWatcher(options: LaunchOptions): ChildProcess {
  const { onOutput, onErrors } = options;
  const log = options.logFile === undefined ? 2 : openSync(options.logFile, 'a');
  const script = options.keepsOwnLifeline === true ? become : watchAndBecome;
  const args = ['-c', script, 'watcher', options.command, ...options.args];
  const child = spawn('/bin/sh', args, {
    detached: true,
    stdio: [
      'ignore',
      onOutput === undefined ? log : 'pipe',
      onErrors === undefined ? log : 'pipe',
      'pipe',
    ],
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  if (log !== 2) closeSync(log);
  if (onOutput !== undefined) child.stdout?.setEncoding('utf8').on('data', onOutput);
  if (onErrors !== undefined) child.stderr?.setEncoding('utf8').on('data', onErrors);
  // A test that forgets to stop its plane must still be able to end.
  if (options.keepsUsAlive !== true) child.unref();
  return child;
}

async function endOf(child: ChildProcess): Promise<ProcessEnd> {
  // What the process has written last may still be on its way when it has ended.
  const outputs = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const drained = outputs.map((stream) => once(stream, 'close'));
  const end = await new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await Promise.all(drained);
  return end;
}

function supervise(child: ChildProcess): SupervisedProcess {
  const ended = endOf(child);
  const lifeline = child.stdio[3] as Writable & { unref(): void };
  // The watcher may be gone first (killed with the group): a broken pipe is then no news.
  lifeline.on('error', () => undefined);
  child.once('exit', () => lifeline.end('ended\n'));
  lifeline.unref();
  function isRunning(): boolean {
    return child.exitCode === null && child.signalCode === null;
  }
  return {
    pid: child.pid ?? 0,
    ended,
    isRunning,
    async stop(graceMs) {
      if (!isRunning()) return ended;
      child.ref();
      child.kill(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      const end = await ended;
      clearTimeout(timer);
      return end;
    },
  };
}
