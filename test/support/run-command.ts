import { createProgram } from '../../src/cli/program.ts';

/** Runs a command of the command line within this process; gives all that it prints. */
export async function runCommand(...args: readonly string[]): Promise<string> {
  let printed = '';
  const print = (text: string) => {
    printed += `${text}\n`;
  };
  const program = createProgram({
    output: { print, error: print, hasColor: false, isTerminal: false },
    signal: new AbortController().signal,
    exit: () => undefined,
  });
  for (const command of [program, ...program.commands]) command.exitOverride();
  await program.parseAsync(args, { from: 'user' });
  return printed;
}
