import { createTerminalOutput } from '#cli/output.ts';
import { createProgram } from '#cli/program.ts';

/** Runs a command of the command line within this process; gives all that it prints to a pipe. */
export async function runCommand(...args: readonly string[]): Promise<string> {
  let printed = '';
  const write = (text: string) => {
    printed += text;
  };
  const program = createProgram({
    output: createTerminalOutput({ stdout: { write }, stderr: { write }, argv: [], env: {} }),
    signal: new AbortController().signal,
    exit: () => undefined,
  });
  for (const command of [program, ...program.commands]) command.exitOverride();
  await program.parseAsync(args, { from: 'user' });
  return printed;
}
