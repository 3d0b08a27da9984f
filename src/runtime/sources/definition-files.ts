import type { BigIntStats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DefinitionManifest } from '../../check/index.ts';
import { isDefinitionFile } from './definition-names.ts';

/** Maximum file size; larger than the limit of a definition. */
const maxBytes = 4 * 1024 * 1024;

/** Why a file is not opened, as a message: reading a pipe would block. Undefined: it can be read. Pure. */
export function unreadableReason(stats: Pick<BigIntStats, 'size' | 'isFile'>): string | undefined {
  if (!stats.isFile()) return 'it is not a regular file';
  if (stats.size > maxBytes) return `it is larger than ${maxBytes} bytes`;
  return undefined;
}

/** A directory entry is named like a definition file but cannot be read. The message names it. */
export class UnreadableFileError extends Error {}

/** A file, or the definition files of a directory. @throws Error as {@link loadDirectory} */
export async function loadPath(path: string): Promise<readonly DefinitionManifest[]> {
  if ((await stat(path)).isDirectory()) return loadDirectory(path);
  return [{ file: path, text: await readFile(path, 'utf8') }];
}

/** A file, or all YAML and JSON files below a directory, sorted. @throws Error of `node:fs` */
export async function loadTree(path: string): Promise<readonly DefinitionManifest[]> {
  if (!(await stat(path)).isDirectory())
    return [{ file: path, text: await readFile(path, 'utf8') }];
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    // Only below the directory: it may itself be in a hidden folder.
    .filter((file) => !/(?:^|\/)(?:\.[^./]|node_modules\/)/.test(relative(path, file)))
    .sort();
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })));
}

/**
 * Reads the definition files of a directory (`.yaml`, `.yml`, `.json`), sorted by name. Ignores subdirectories, where samples may be, and
 * names that begin with a dot (symlinks of mounted volumes).
 * @throws Error of `node:fs` if the directory or a file cannot be read, {@link UnreadableFileError} if a file is not opened.
 */
export async function loadDirectory(directory: string): Promise<readonly DefinitionManifest[]> {
  const names = await definitionFilesIn(directory);
  const manifests = await Promise.all(names.map((name) => loadFile(directory, name)));
  return manifests.filter((text) => text !== undefined);
}

/** Undefined: a link to a directory. */
async function loadFile(directory: string, name: string): Promise<DefinitionManifest | undefined> {
  const file = join(directory, name);
  const stats = await stat(file, { bigint: true });
  if (stats.isDirectory()) return undefined;
  const reason = unreadableReason(stats);
  if (reason !== undefined) throw new UnreadableFileError(`${name}: ${reason}`);
  return { file, text: await readFile(file, 'utf8') };
}

/** Names of the definition files. @throws Error of `node:fs` */
export async function definitionFilesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && isDefinitionFile(entry.name))
    .map((entry) => entry.name)
    .sort();
}
