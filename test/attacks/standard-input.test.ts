import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { homeostatCommand } from '../support/executable.ts';

/** Commands that read standard input. */
const commands = [
  ['validate', '-'],
  ['import', '-'],
  ['init', 'one', 'new', '--from', '-'],
  ['rights', '-'],
  ['explain', '-'],
] as const;

describe('attacks/standard-input', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-stdin-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  after(() => rmSync(folder, { recursive: true, force: true }));

  function start(args: readonly string[], input: number) {
    const [command, ...first] = homeostatCommand();
    // A process that takes the memory of the machine is ended by its own limit.
    const env = { ...process.env, NODE_OPTIONS: '--max-old-space-size=512' };
    const stdio = [input, 'ignore', 'pipe'] as const;
    const child = spawn(command, [...first, ...args], { cwd: folder, env, stdio: [...stdio] });
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const ended = once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as string | null,
      errors,
    }));
    return { child, ended };
  }

  for (const args of commands) {
    test(`homeostat ${args[0]}: a device without an end is not read to the end of memory`, async () => {
      const zeros = openSync('/dev/zero', 'r');
      const { ended } = start(args, zeros);
      closeSync(zeros);
      const { code, errors } = await ended;
      assert.match(errors, /Cannot read the standard input: it is larger than 64 MiB/);
      assert.equal(code, 2);
    });
  }

  test('SIGTERM ends a command that waits for standard input', async () => {
    // Open for both, so that the pipe has a writer that never writes.
    const input = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const { child, ended } = start(['validate', '-'], input);
    try {
      await untilRead(input);
      child.kill('SIGTERM');
      const { code, signal, errors } = await ended;
      assert.deepEqual({ code, signal }, { code: 2, signal: null });
      assert.match(errors, /Cannot read the standard input: it was closed before its end/);
    } finally {
      child.kill('SIGKILL');
      closeSync(input);
    }
  });
});

/** Fills the pipe, and waits until the process has read from it: then it waits for more. */
async function untilRead(pipe: number): Promise<void> {
  const page = Buffer.alloc(4_096, '\n');
  while (writes(pipe, page));
  while (!writes(pipe, page)) await new Promise((resolve) => setImmediate(resolve));
}

/** False: the pipe is full. */
function writes(pipe: number, bytes: Buffer): boolean {
  try {
    return writeSync(pipe, bytes) > 0;
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error && error.code === 'EAGAIN');
    return false;
  }
}
