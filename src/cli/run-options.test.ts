import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createProgram } from './program.ts';
import { type ElectionFlags, electsLeader } from './run-options.ts';

/** The flags that a command line gives. */
function flagsOf(...flags: readonly string[]): ElectionFlags {
  const program = createProgram({
    output: { print: () => {}, error: () => {} },
  } as unknown as Parameters<typeof createProgram>[0]);
  const run = program.commands.find((command) => command.name() === 'run');
  assert.ok(run);
  run.parseOptions([...flags]);
  return run.opts();
}

describe('cli/run-options', () => {
  for (const [flags, inPod, outside] of [
    [[], true, false],
    [['--leader-elect'], true, true],
    [['--no-leader-elect'], false, false],
    [['--runtime', 'east'], true, false],
  ] as const) {
    const words = flags.length === 0 ? 'no flag' : flags.join(' ');
    test(`with ${words}, processes elect a leader in a Pod: ${inPod}, elsewhere: ${outside}`, () => {
      assert.equal(electsLeader(flagsOf(...flags), true), inPod);
      assert.equal(electsLeader(flagsOf(...flags), false), outside);
    });
  }
});
