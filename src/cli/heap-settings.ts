/**
 * V8 takes the size of its young generation at its start only, not from `v8.setFlagsFromString`. Of the usual 32 MiB a daemon that waits
 * for events keeps nothing, as a pass is over in milliseconds: with 8 MiB the process peaks 40 MiB lower at about the same CPU time.
 */
const semiSpace = '--max-semi-space-size';
const semiSpaceMiB = 4;

/**
 * The old generation may grow by 40 % before it is collected, not to the double and more: with 10,000 resources 110 MiB less, for a
 * tenth more CPU time. Set in the process, where a V8 that knows the flag no more ignores it; as an argument it would keep Node from starting.
 */
const growth = '--heap-growing-percent';
const growthPercent = 40;

/** With glibc each thread has a heap of its own, which it does not give back: 12 MiB. */
const arenas = 'MALLOC_ARENA_MAX';

/** What of Node's `process` the restart takes. */
export type RestartableProcess = Pick<
  NodeJS.Process,
  'argv' | 'env' | 'execArgv' | 'execPath' | 'execve' | 'getBuiltinModule' | 'platform'
>;

/**
 * Gives the process memory settings that suit a daemon. For one of them it begins again: the same program, arguments and pid, some 25 ms later;
 * not when that setting is there already, by us or by the user (`NODE_OPTIONS`), and not where it cannot (Windows). What the user has set stays.
 */
export function applyHeapSettings(self: RestartableProcess): void {
  const { env, execArgv, platform } = self;
  const given = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-');
  if (!given.includes(semiSpace) && platform !== 'win32') restart(self);
  if (given.includes(growth)) return;
  self.getBuiltinModule('node:v8').setFlagsFromString(`${growth}=${growthPercent}`);
}

/** Returns only where that is not possible. */
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
