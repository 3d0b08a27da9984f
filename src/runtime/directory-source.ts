import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DefinitionText } from './definition-source.ts';

const definitionFile = /\.(?:ya?ml|json)$/;

/**
 * Reads the definition files directly in a directory (`.yaml`, `.yml`, `.json`), in order of their names. Folders below it are not entered,
 * so that samples may stand beside definitions; names that begin with a dot are skipped (a mounted volume keeps its symlinks there).
 * @throws Error of `node:fs` when the directory cannot be read.
 */
export async function loadDirectory(directory: string): Promise<readonly DefinitionText[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter(
      (entry) =>
        !entry.isDirectory() && !entry.name.startsWith('.') && definitionFile.test(entry.name),
    )
    .map((entry) => entry.name)
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const file = join(directory, name);
      return { file, text: await readFile(file, 'utf8') };
    }),
  );
}
