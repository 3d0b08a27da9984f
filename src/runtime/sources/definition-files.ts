import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DefinitionManifest } from '../../check/index.ts';
import { scanFolder, UnreadableFileError } from './folder-scan.ts';

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
 * @throws Error of `node:fs` if the directory cannot be read, {@link UnreadableFileError} if a file cannot.
 */
export async function loadDirectory(directory: string): Promise<readonly DefinitionManifest[]> {
  const { files } = await scanFolder(directory);
  return files.map(({ path, text, unreadable }) => {
    if (unreadable !== undefined)
      throw new UnreadableFileError(`${relative(directory, path)}: ${unreadable}`);
    return { file: path, text };
  });
}
