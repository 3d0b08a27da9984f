import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { type SaveFailure, SnapshotSaver } from './snapshot-saver.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));

/** A sandbox of which only the text is of interest. */
function fakeSandbox() {
  const listeners = new Set<() => void>();
  let text = '';
  return {
    snapshotText: () => text,
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    write(next: string) {
      text = next;
      for (const listener of listeners) listener();
    },
    listeners,
  };
}

function start(path: string) {
  const clock = new FakeClock();
  const sandbox = fakeSandbox();
  const failures: (SaveFailure | undefined)[] = [];
  const onChange = (failure: SaveFailure | undefined) => failures.push(failure);
  const keeper = new SnapshotSaver({ sandbox, path, clock, onStateChange: onChange });
  return { clock, sandbox, failures, keeper };
}

/** Resolves when a save has failed and the next one is planned. */
async function untilTried(clock: FakeClock): Promise<void> {
  while (clock.pending === 0) await setImmediate();
}

describe('dev/snapshot-saver', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('several changes are one save, and the end saves what is left', async () => {
    const path = join(folder, 'cluster');
    const { clock, sandbox, keeper, failures } = start(path);
    sandbox.write('one');
    sandbox.write('two');
    assert.equal(clock.pending, 1);
    await clock.advance(200);
    sandbox.write('three');
    assert.equal(await keeper.stop(), undefined);
    assert.equal(readFileSync(path, 'utf8'), 'three');
    assert.equal(sandbox.listeners.size, 0);
    assert.deepEqual(failures, []);
  });

  test('saves that fail are reported once, with what is not saved, and so is their end', async () => {
    const gone = join(folder, 'gone');
    const path = join(gone, 'cluster');
    const { clock, sandbox, keeper, failures } = start(path);
    const sinceMs = clock.nowMs();
    sandbox.write('one');
    for (let tries = 0; tries < 3; tries++) {
      await clock.advance(2_000);
      await untilTried(clock);
      sandbox.write('two');
    }
    assert.deepEqual(
      failures.map((failure) => failure?.unsavedSinceMs),
      [sinceMs],
    );
    mkdirSync(gone);
    await clock.advance(2_000);
    assert.equal(await keeper.stop(), undefined);
    assert.equal(failures.length, 2);
    assert.equal(failures[1], undefined);
    assert.equal(readFileSync(path, 'utf8'), 'two');
  });

  test('what cannot be saved at the end is reported by the end', async () => {
    const { clock, sandbox, keeper } = start(join(folder, 'none', 'cluster'));
    sandbox.write('one');
    const failure = await keeper.stop();
    assert.ok(failure !== undefined);
    assert.equal(failure.unsavedSinceMs, clock.nowMs());
    assert.equal((failure.error as { code?: string }).code, 'ENOENT');
  });

  test('a save that is under way at the end is the last one', async () => {
    const { clock, sandbox, keeper } = start(join(folder, 'none', 'cluster'));
    sandbox.write('one');
    await clock.advance(200);
    assert.ok((await keeper.stop()) !== undefined);
    assert.equal(clock.pending, 0);
  });
});
