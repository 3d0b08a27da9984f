import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { getSystemErrorMessage } from 'node:util';
import { type DefinitionText, loadDirectory } from '../runtime/index.ts';
import { CliError } from './exit-code.ts';

/**
 * Loads the definition texts of files and directories, in the order given. `-` is standard input.
 * @throws CliError when one cannot be read or a directory holds no definition file.
 */
export async function loadTexts(paths: readonly string[]): Promise<readonly DefinitionText[]> {
  const texts: DefinitionText[] = [];
  for (const path of paths) texts.push(...(await loadPath(path)));
  return texts;
}

async function loadPath(path: string): Promise<readonly DefinitionText[]> {
  if (path === '-') return [{ file: '<stdin>', text: await text(process.stdin) }];
  try {
    if (!(await stat(path)).isDirectory())
      return [{ file: path, text: await readFile(path, 'utf8') }];
    const texts = await loadDirectory(path);
    if (texts.length > 0) return texts;
  } catch (error) {
    throw new CliError(`Cannot read "${path}": ${reasonOf(error)}`, { cause: error });
  }
  throw new CliError(`There is no definition in "${path}"`, {
    hint: 'Definitions are files that end in .yaml, .yml or .json',
  });
}

/** In the words of the system: `no such file or directory`. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'errno' in error && typeof error.errno === 'number') {
    return getSystemErrorMessage(error.errno);
  }
  return String(error);
}
