import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { DefinitionManifest } from '#check';
import { type Diagnostic, formatSource } from '#definition';
import { fileReason } from '#files';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests, standardInput } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';

export interface FmtFlags {
  /** Writes nothing. @default false */
  readonly check?: boolean;
}

interface FmtOutput {
  readonly output: Output;
  /** Writes to standard output as it is: `print` escapes the ends of lines of Windows. */
  readonly write: (text: string) => unknown;
}

/**
 * `homeostat fmt PATH...`: puts quotes around the values that YAML syntax cuts, and prints the names of the files that it changes.
 * `-` is standard input, which is printed.
 * @returns the exit code: 1 for files with other syntax errors, and with `--check` for files that would change.
 * @throws CliError for files that cannot be read or written.
 */
export async function fmt(
  paths: readonly string[],
  { check = false }: FmtFlags,
  { output, write }: FmtOutput,
): Promise<number> {
  const manifests = await loadManifests(paths, { mayBeEmpty: true });
  const errors: Diagnostic[] = [];
  let changed = 0;
  for (const manifest of manifests) {
    const { file, text } = manifest;
    const found = formatSource(text, file);
    errors.push(...found.syntaxErrors);
    const isStdin = file === standardInput.file;
    if (isStdin && !check) write(found.text);
    if (found.text === text) continue;
    changed += 1;
    if (!check && !isStdin) await replaceFile(manifest, found.text);
    if (check || !isStdin) output.print(file);
  }
  printDiagnostics(errors, manifests, output);
  return errors.length > 0 || (check && changed > 0) ? exitCode.failure : exitCode.ok;
}

/** Replaces a file as a whole, with its mode; behind a link, the file that it leads to. @throws CliError */
async function replaceFile({ file }: DefinitionManifest, text: string): Promise<void> {
  let draft: string | undefined;
  try {
    const target = await realpath(file);
    const { mode } = await stat(target);
    draft = `${target}.${process.pid}.tmp`;
    await writeFile(draft, text, { flag: 'wx' });
    await chmod(draft, mode);
    await rename(draft, target);
  } catch (error) {
    if (draft !== undefined) await rm(draft, { force: true });
    throw new CliError(`Cannot write "${file}": ${fileReason(error)}`, { cause: error });
  }
}
