import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type DefinitionText, fileReason, loadDirectory } from '../runtime/index.ts';
import { CliError } from './exit-code.ts';

/** What stands for standard input on the command line, and in messages. */
export const standardInput = { path: '-', file: '<stdin>' } as const;

export interface LoadTextsOptions {
  /** May a directory hold no definition file (yet)? @default false */
  readonly mayBeEmpty?: boolean;
}

/**
 * Loads the definition texts of files and directories, in the order given. `-` is standard input.
 * @throws CliError when one cannot be read or a directory holds no definition file.
 */
export async function loadTexts(
  paths: readonly string[],
  { mayBeEmpty = false }: LoadTextsOptions = {},
): Promise<readonly DefinitionText[]> {
  const texts: DefinitionText[] = [];
  for (const path of paths) texts.push(...(await loadPath(path, mayBeEmpty)));
  return texts;
}

async function loadPath(path: string, mayBeEmpty: boolean): Promise<readonly DefinitionText[]> {
  if (path === standardInput.path)
    return [{ file: standardInput.file, text: await text(process.stdin) }];
  try {
    if (!(await stat(path)).isDirectory())
      return [{ file: path, text: await readFile(path, 'utf8') }];
    const texts = await loadDirectory(path);
    if (texts.length > 0 || mayBeEmpty) return texts;
  } catch (error) {
    throw new CliError(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
  }
  throw new CliError(`There is no definition in "${path}"`, {
    hint: 'Definitions are files that end in .yaml, .yml or .json',
  });
}
