import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limitHeapGrowth, limitYoungGeneration, type RestartableProcess } from './heap-settings.ts';

/** What a process restarts with, and the flags that it sets for itself. */
function settingsOf(given: Partial<RestartableProcess> = {}) {
  const flags: string[] = [];
  let restart: readonly unknown[] | undefined;
  const setFlagsFromString = (flag: string) => void flags.push(flag);
  const self: RestartableProcess = {
    argv: ['/bin/node', '/app/homeostat.mjs', 'run', '--http', 'off'],
    env: { HOME: '/home' },
    execArgv: [],
    execPath: process.execPath,
    platform: 'linux',
    execve: (...call): never => {
      restart = call;
      return undefined as never;
    },
    getBuiltinModule: ((name: string) =>
      name === 'node:v8'
        ? { setFlagsFromString }
        : process.getBuiltinModule(name)) as typeof process.getBuiltinModule,
    ...given,
  };
  limitYoungGeneration(self);
  limitHeapGrowth(self);
  return { restart, flags };
}

describe('cli/heap-settings', () => {
  test('the process begins again with the same arguments, its own flags and environment, and a small young generation', () => {
    const { restart } = settingsOf({ execArgv: ['--cpu-prof'] });
    assert.deepEqual(restart, [
      process.execPath,
      [
        ...[process.execPath, '--cpu-prof', '--max-semi-space-size=4'],
        ...['/app/homeostat.mjs', 'run', '--http', 'off'],
      ],
      { HOME: '/home', MALLOC_ARENA_MAX: '1' },
    ]);
  });

  test('once: what it was given is what it has, and growth is set in the process', () => {
    const { restart, flags } = settingsOf({ execArgv: ['--max-semi-space-size=4'] });
    assert.equal(restart, undefined);
    assert.deepEqual(flags, ['--heap-growing-percent=40']);
  });

  test('what the user has set stays', () => {
    const env = { NODE_OPTIONS: '--max_semi_space_size=32' };
    assert.equal(settingsOf({ env }).restart, undefined);
    const execArgv = ['--heap-growing-percent=90'];
    assert.deepEqual(settingsOf({ execArgv }).flags, []);
    const [, , sent] = settingsOf({ env: { MALLOC_ARENA_MAX: '8' } }).restart ?? [];
    assert.deepEqual(sent, { MALLOC_ARENA_MAX: '8' });
  });

  test('it continues as it is where it cannot restart, or may not', () => {
    assert.equal(settingsOf({ platform: 'win32' }).restart, undefined);
    assert.equal(settingsOf({ execPath: '/nowhere/node' }).restart, undefined);
    const execve = (): never => {
      throw new Error('Access to this API has been restricted');
    };
    assert.doesNotThrow(() => settingsOf({ execve }));
  });
});
