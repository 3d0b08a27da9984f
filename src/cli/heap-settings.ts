/**
 * Of the 32 MiB of V8's young generation a daemon that waits for events keeps nothing: a pass is over in milliseconds. With 8 MiB the process
 * peaks 40 MiB lower at the same CPU time (docs/decisions/0008). V8 takes the size at its start only, not from `v8.setFlagsFromString`.
 */
const semiSpace = '--max-semi-space-size';
const semiSpaceMiB = 4;

/** With glibc each thread has a heap of its own, which it does not give back: 12 MiB. */
const arenas = 'MALLOC_ARENA_MAX';

/** What of Node's `process` the restart takes. */
export type RestartableProcess = Pick<
  NodeJS.Process,
  'argv' | 'env' | 'execArgv' | 'execPath' | 'execve' | 'platform'
>;

/**
 * Lets the process begin again with memory settings that suit a daemon: the same program, arguments and pid, some 25 ms later.
 * Does nothing when the settings are there already, by us or by the user (`NODE_OPTIONS`), and where a process cannot do so (Windows).
 */
export function restartWithHeapSettings(self: RestartableProcess): void {
  const { argv, env, execArgv, execPath, platform } = self;
  const given = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-');
  if (given.includes(semiSpace) || platform === 'win32') return;
  const flags = [...execArgv, `${semiSpace}=${semiSpaceMiB}`];
  const [, ...rest] = argv;
  try {
    self.execve?.(execPath, [execPath, ...flags, ...rest], {
      ...env,
      [arenas]: env[arenas] ?? '1',
    });
  } catch {
    // Under Node's permission model no program may be started: ours goes on with more memory.
  }
}
