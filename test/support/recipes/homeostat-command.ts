import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { CliError } from '#cli/exit-code.ts';
import { createProgram } from '#cli/program.ts';

/** Runs a command of Homeostat in this process, and returns the lines that it prints, also those of an error. */
export async function homeostatCommand(args: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const print = (text: string) => {
    lines.push(...text.trimEnd().split('\n'));
  };
  const program = createProgram({
    output: { print, error: print, hasColor: false, isTerminal: false },
    signal: new AbortController().signal,
    exit: () => {},
  });
  for (const command of [program, ...program.commands]) command.exitOverride();
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CliError) print(error.message);
    else if (!(error instanceof CommanderError)) throw error;
  }
  return lines;
}

/** What `homeostat validate` prints for definitions, by file (`web-app.yaml`), when it is started in their folder. */
export async function validateCommand(
  definitions: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-recipes-'));
  try {
    const paths = Object.entries(definitions).map(([file, text]) => {
      const path = join(folder, file);
      writeFileSync(path, text);
      return path;
    });
    const lines = await homeostatCommand(['validate', ...paths]);
    return lines.map((line) => line.replaceAll(`${folder}/`, ''));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
