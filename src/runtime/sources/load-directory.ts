import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DefinitionText } from '../definition-text.ts';
import { isDefinitionFile } from './definition-file.ts';

/**
 * Reads the definition files directly in a directory (`.yaml`, `.yml`, `.json`), in order of their names. Folders below it are not entered,
 * so that samples may stand beside definitions; names that begin with a dot are skipped (a mounted volume keeps its symlinks there).
 * @throws Error of `node:fs` when the directory cannot be read.
 */
export async function loadDirectory(directory: string): Promise<readonly DefinitionText[]> {
  const names = await definitionFilesIn(directory);
  return Promise.all(
    names.map(async (name) => {
      const file = join(directory, name);
      return { file, text: await readFile(file, 'utf8') };
    }),
  );
}

/** The names of those files. @throws Error of `node:fs` */
export async function definitionFilesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && isDefinitionFile(entry.name))
    .map((entry) => entry.name)
    .sort();
}
