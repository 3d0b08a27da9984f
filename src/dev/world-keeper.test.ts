import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { WorldKeeper } from './world-keeper.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));

/** A sandbox of which only the text is of interest. */
function fakeSandbox() {
  const listeners = new Set<() => void>();
  let text = '';
  return {
    worldText: () => text,
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
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  return { clock, sandbox, failures, keeper: new WorldKeeper({ sandbox, path, clock, onFailure }) };
}

describe('dev/world-keeper', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('several changes are one save, and the end saves what is left', async () => {
    const path = join(folder, 'world');
    const { clock, sandbox, keeper, failures } = start(path);
    sandbox.write('one');
    sandbox.write('two');
    assert.equal(clock.pending, 1);
    await clock.advance(200);
    sandbox.write('three');
    await keeper.stop();
    assert.equal(readFileSync(path, 'utf8'), 'three');
    assert.equal(sandbox.listeners.size, 0);
    assert.deepEqual(failures, []);
  });

  test('a save that fails is told', async () => {
    const inTheWay = join(folder, 'a-file');
    writeFileSync(inTheWay, '');
    const { sandbox, keeper, failures } = start(join(inTheWay, 'world'));
    sandbox.write('one');
    await keeper.stop();
    assert.equal(failures.length, 1);
  });
});
