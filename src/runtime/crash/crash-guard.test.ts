import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { silentLogger } from '../../../test/support/silent-telemetry.ts';
import { openBox } from './box-files.ts';
import { CrashGuard } from './crash-guard.ts';

const hour = 60 * 60_000;

describe('runtime/crash guard', () => {
  let folder = '';
  /** Of the process that was started last: with one that has ended its timers are gone. */
  let clock = new FakeClock();
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeostat-box-'));
    clock = new FakeClock();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A process, in a container: it has the number of the one before. */
  function start(pid = process.pid): CrashGuard {
    clock = new FakeClock(clock.nowMs() + 60_000);
    return new CrashGuard({ files: openBox(folder, pid), clock, logger: silentLogger() });
  }

  /** A process that ends in the middle of its work for a definition. */
  function crash(...names: readonly string[]): CrashGuard {
    const guard = start();
    for (const name of names) guard.watchFor(name, 'r1').begin();
    return guard;
  }

  const suspended = (guard: CrashGuard) => guard.suspensions.map(({ name }) => name);

  test('three crashes in a row suspend the revision that was at work, for an hour', async () => {
    for (let times = 0; times < 3; times++) assert.deepEqual(suspended(crash('bad')), []);
    const guard = start();
    assert.deepEqual(guard.suspensions, [
      {
        name: 'bad',
        revision: 'r1',
        message:
          'It took the process down 3 times in 10 minutes. It is tried again when its text changes, or at 2026-01-01T01:04:00Z',
      },
    ]);
    let changes = 0;
    guard.onChange(() => {
      changes += 1;
    });
    await clock.advance(hour + 1);
    assert.deepEqual([changes, suspended(guard)], [1, []]);
  });

  test('whoever ends well, or is killed while it waits, blames nobody', async () => {
    for (let times = 0; times < 5; times++) {
      const guard = start();
      const watch = guard.watchFor('good', 'r1');
      watch.begin();
      watch.end();
      if (times % 2 === 0) guard.end();
      else await clock.advance(5);
    }
    assert.deepEqual(start().crashes, []);
  });

  test('of several that worked at the first crash the one that is at work in the next ones is suspended', async () => {
    crash('bad', 'good');
    for (let times = 0; times < 2; times++) {
      const guard = start();
      const good = guard.watchFor('good', 'r1');
      good.begin();
      good.end();
      guard.watchFor('bad', 'r1').begin();
    }
    assert.deepEqual(suspended(start()), ['bad']);
  });

  test('what other replicas have found counts, and is told of once', async () => {
    crash('bad');
    const guard = start();
    let changes = 0;
    guard.onChange(() => {
      changes += 1;
    });
    const others = [1, 2].map((min) => ({
      name: 'bad',
      revision: 'r1',
      atMs: clock.nowMs() + min,
    }));
    guard.learn(others);
    guard.learn(others);
    assert.deepEqual([changes, suspended(guard)], [1, ['bad']]);
    guard.end();
    assert.deepEqual(suspended(start()), ['bad'], 'also after a restart');
  });

  test('what others tell counts also where as much is forgotten for it', () => {
    const guard = start();
    const at = (name: string, atMs: number) => ({ name, revision: 'r1', atMs });
    const old = Array.from({ length: 200 }, (_, i) => at(`old${i}`, clock.nowMs() - hour - i));
    guard.learn(old);
    assert.deepEqual([guard.crashes.length, suspended(guard)], [200, []]);
    guard.learn([1, 2, 3].map((times) => at('bad', clock.nowMs() - times)));
    assert.deepEqual([guard.crashes.length, suspended(guard)], [200, ['bad']]);
    let changes = 0;
    guard.onChange(() => {
      changes += 1;
    });
    guard.learn(old);
    assert.equal(changes, 0, 'what was forgotten is no news');
  });

  test('a box of a process that lives is left alone, one of a process that has ended is read', async () => {
    const ended = spawnSync(process.execPath, ['-e', '']).pid;
    const mark = JSON.stringify([{ name: 'bad', revision: 'r1' }]);
    writeFileSync(join(folder, `${process.ppid}.box`), `+${mark}\n`);
    writeFileSync(join(folder, `${ended}.box`), `+${mark}\nrest of a longer line`);
    const guard = start();
    assert.deepEqual(
      guard.crashes.map(({ name }) => name),
      ['bad'],
    );
    assert.deepEqual(
      readdirSync(folder).sort(),
      [`${process.pid}.box`, `${process.ppid}.box`, 'crashes.json'].sort(),
    );
    guard.end();
    assert.ok(!existsSync(join(folder, `${process.pid}.box`)));
  });

  test('a disk that is full is told once, and stops nobody', () => {
    const full = openSync('/dev/full', 'w');
    const lines: string[] = [];
    const files = { ...openBox(folder, process.pid), write: () => void writeSync(full, '-') };
    const logger = {
      ...silentLogger(),
      warn: (_: object, message: string) => void lines.push(message),
    };
    const watch = new CrashGuard({ files, clock, logger }).watchFor('good', 'r1');
    for (let times = 0; times < 3; times++) {
      watch.begin();
      watch.end();
    }
    closeSync(full);
    assert.deepEqual(lines, ['Nobody will know for whom the process worked when it ends']);
  });

  test('a box that is cut off in the middle tells nothing', () => {
    writeFileSync(join(folder, `${process.pid}.box`), '+[{"name": "ba');
    assert.deepEqual(start().crashes, []);
  });
});
