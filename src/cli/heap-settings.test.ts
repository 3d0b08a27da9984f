import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type RestartableProcess, restartWithHeapSettings } from './heap-settings.ts';

/** The program, arguments and environment that a process restarts with; undefined when it goes on. */
function restartOf(given: Partial<RestartableProcess> = {}) {
  let restart: readonly unknown[] | undefined;
  restartWithHeapSettings({
    argv: ['/bin/node', '/app/homeostat.mjs', 'run', '--http', 'off'],
    env: { HOME: '/home' },
    execArgv: [],
    execPath: '/bin/node',
    platform: 'linux',
    execve: (...call): never => {
      restart = call;
      return undefined as never;
    },
    ...given,
  });
  return restart;
}

describe('cli/heap-settings', () => {
  test('the process begins again with the same arguments, its own flags and environment, and settings for a small heap', () => {
    const restart = restartOf({ execArgv: ['--cpu-prof'] });
    assert.deepEqual(restart, [
      '/bin/node',
      [
        ...['/bin/node', '--cpu-prof', '--max-semi-space-size=4', '--heap-growing-percent=40'],
        ...['/app/homeostat.mjs', 'run', '--http', 'off'],
      ],
      { HOME: '/home', MALLOC_ARENA_MAX: '1' },
    ]);
  });

  test('once: what it was given is what it has', () => {
    assert.equal(restartOf({ execArgv: ['--max-semi-space-size=4'] }), undefined);
  });

  test('what the user has set stays', () => {
    assert.equal(restartOf({ env: { NODE_OPTIONS: '--max_semi_space_size=32' } }), undefined);
    const [, flags] = restartOf({ execArgv: ['--heap-growing-percent=90'] }) ?? [];
    assert.deepEqual((flags as readonly string[]).slice(1, 3), [
      '--heap-growing-percent=90',
      '--max-semi-space-size=4',
    ]);
    const [, , env] = restartOf({ env: { MALLOC_ARENA_MAX: '8' } }) ?? [];
    assert.deepEqual(env, { MALLOC_ARENA_MAX: '8' });
  });

  test('it goes on as it is where it cannot restart, or may not', () => {
    assert.equal(restartOf({ platform: 'win32' }), undefined);
    const execve = (): never => {
      throw new Error('Access to this API has been restricted');
    };
    assert.doesNotThrow(() => restartOf({ execve }));
  });
});
