import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DefinitionManifest } from '#check';
import { readRegularFile, UnreadableFileError } from '#files';
import { scanFolder } from './folder-scan.ts';

/** A regular file, or the definition files of a directory. @throws Error as {@link loadDirectory} */
export async function loadPath(path: string): Promise<readonly DefinitionManifest[]> {
  if ((await stat(path)).isDirectory()) return loadDirectory(path);
  return [{ file: path, text: await readRegularFile(path) }];
}

/** A regular file, or all YAML and JSON files below a directory, sorted. @throws Error as {@link loadDirectory} */
export async function loadTree(path: string): Promise<readonly DefinitionManifest[]> {
  if (!(await stat(path)).isDirectory()) return [{ file: path, text: await readRegularFile(path) }];
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    // Only below the directory: it may itself be in a hidden folder.
    .filter((file) => !/(?:^|\/)(?:\.[^./]|node_modules\/)/.test(relative(path, file)))
    .sort();
  return Promise.all(files.map(async (file) => ({ file, text: await readBelow(path, file) })));
}

async function readBelow(directory: string, file: string): Promise<string> {
  try {
    return await readRegularFile(file);
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    throw new UnreadableFileError(`${relative(directory, file)}: ${error.message}`);
  }
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
