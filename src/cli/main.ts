import { CommanderError } from 'commander';
import { endWithReaders } from './end-with-readers.ts';
import { CliError, exitCode } from './exit-code.ts';
import { createTerminalOutput, type Output } from './output.ts';
import { createProgram } from './program.ts';

/** Reads the command line, runs one command, and sets the exit code: 0 well, 1 diagnostics, 2 wrong use or cannot start. */
export async function main(): Promise<void> {
  const output = createTerminalOutput();
  const stopper = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => stopper.abort(new Error(`Stopped by ${name}`)));
  }
  const ending = endWithReaders(process, stopper);
  const program = createProgram({
    output,
    signal: stopper.signal,
    exit: (code) => {
      process.exitCode = code;
    },
  });
  try {
    for (const command of [program, ...program.commands]) command.exitOverride();
    await program.parseAsync();
  } catch (error) {
    // What is broken off because nobody reads it needs no explanation, and nobody would read that one.
    if (!ending.hasBegun) process.exitCode = explain(error, output);
  }
}

function explain(error: unknown, output: Output): number {
  // Commander has printed its message (or the help that was asked for) already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage;
  if (error instanceof CliError) {
    output.error(`homeostat: ${error.message}`);
    if (error.hint !== undefined) output.error(`  hint: ${error.hint}`);
    return exitCode.usage;
  }
  output.error(
    `homeostat: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return exitCode.usage;
}
