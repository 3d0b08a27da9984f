import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DefinitionText } from '../definition-text.ts';
import { isDefinitionFile } from './definition-file.ts';
import { whyNotRead } from './why-not-read.ts';

/** Something in a directory has the name of a definition file, and is none. The message names it. */
export class NotReadError extends Error {}

/**
 * Reads the definition files directly in a directory (`.yaml`, `.yml`, `.json`), in order of their names. Folders below it are not entered,
 * so that samples may stand beside definitions; names that begin with a dot are skipped (a mounted volume keeps its symlinks there).
 * @throws Error of `node:fs` when the directory, or a file, cannot be read, {@link NotReadError} when one is not even opened.
 */
export async function loadDirectory(directory: string): Promise<readonly DefinitionText[]> {
  const names = await definitionFilesIn(directory);
  const texts = await Promise.all(names.map((name) => loadFile(directory, name)));
  return texts.filter((text) => text !== undefined);
}

/** Undefined: it is a link to a directory. */
async function loadFile(directory: string, name: string): Promise<DefinitionText | undefined> {
  const file = join(directory, name);
  const stats = await stat(file, { bigint: true });
  if (stats.isDirectory()) return undefined;
  const reason = whyNotRead(stats);
  if (reason !== undefined) throw new NotReadError(`${name}: ${reason}`);
  return { file, text: await readFile(file, 'utf8') };
}

/** The names of those files. @throws Error of `node:fs` */
export async function definitionFilesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && isDefinitionFile(entry.name))
    .map((entry) => entry.name)
    .sort();
}
