/**
 * V8 reads the size of its young generation only at its start, not from `v8.setFlagsFromString`. A daemon that waits for events needs
 * less than the usual 32 MiB, as a reconcile takes milliseconds: with 8 MiB the peak is 40 MiB lower at about the same CPU time.
 */
const semiSpace = '--max-semi-space-size';
const semiSpaceMiB = 4;

/**
 * The old generation may grow by 40 % before it is collected, instead of 100 % and more: with 10,000 resources this saves 110 MiB for a
 * tenth more CPU time. Set in the process, where a V8 without the flag ignores it; as an argument, an unknown flag would keep Node from starting.
 * Set when all modules are loaded: V8 rejects compiled code that was stored with other flags, also that of Node's own modules (20 ms).
 */
const growth = '--heap-growing-percent';
const growthPercent = 40;

/** Marks objects of the old generation while the program runs. */
const marking = 'incremental-marking';

/** With glibc each thread has a heap of its own, which it does not give back: 12 MiB. */
const arenas = 'MALLOC_ARENA_MAX';

/** The part of Node's `process` that the settings use. */
export type RestartableProcess = Pick<
  NodeJS.Process,
  'argv' | 'env' | 'execArgv' | 'execPath' | 'execve' | 'getBuiltinModule' | 'platform'
>;

/**
 * Gives the process a young generation that suits a daemon. This needs a restart with the same program, arguments and pid, which takes 25 ms.
 * There is no restart if the setting exists already, also from the user (`NODE_OPTIONS`), or on Windows. Settings of the user have priority.
 */
export function limitYoungGeneration(self: RestartableProcess): void {
  if (!flagsOf(self).includes(semiSpace) && self.platform !== 'win32') restart(self);
}

/** Lets the old generation grow slowly, unless the user has set how. Call when all modules are loaded. */
export function limitHeapGrowth(self: RestartableProcess): void {
  if (flagsOf(self).includes(growth)) return;
  self.getBuiltinModule('node:v8').setFlagsFromString(`${growth}=${growthPercent}`);
}

/**
 * V8 does not mark the old generation beside the program: a command that ends before it is full needs no collection of it, which takes a tenth of
 * the CPU time of `render`. A full one is collected at once. Call when all modules are loaded, as {@link limitHeapGrowth}.
 */
export function stopMarking(self: RestartableProcess): void {
  if (flagsOf(self).includes(marking)) return;
  self.getBuiltinModule('node:v8').setFlagsFromString(`--no-${marking}`);
}

/** Undoes {@link limitHeapGrowth} and {@link stopMarking}: stored code is accepted only with the flags that it was stored with. */
export function resetHeapSettings(self: RestartableProcess): void {
  const { setFlagsFromString } = self.getBuiltinModule('node:v8');
  if (!flagsOf(self).includes(growth)) setFlagsFromString(`${growth}=0`);
  if (!flagsOf(self).includes(marking)) setFlagsFromString(`--${marking}`);
}

function flagsOf({ env, execArgv }: RestartableProcess): string {
  return [...execArgv, env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-');
}

/** Returns only if the restart is not possible. */
function restart({ argv, env, execArgv, execPath, execve, getBuiltinModule }: RestartableProcess) {
  const [, ...rest] = argv;
  try {
    const { accessSync, constants } = getBuiltinModule('node:fs');
    // Node ends a process whose `execve` fails, and does not throw.
    accessSync(execPath, constants.X_OK);
    execve?.(execPath, [execPath, ...execArgv, `${semiSpace}=${semiSpaceMiB}`, ...rest], {
      ...env,
      [arenas]: env[arenas] ?? '1',
    });
  } catch {
    // No program of that name, or Node's permission model: the process continues with more memory.
  }
}
