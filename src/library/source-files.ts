import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileReason, loadDirectory } from '../runtime/index.ts';
import type { Definitions, SourceFile } from './api.ts';

/** The files of definitions that are given as one text have this name in diagnostics. */
const textName = '<text>';

/** Definitions as files. */
export function sourcesOf(definitions: Definitions): readonly SourceFile[] {
  return typeof definitions === 'string' ? [{ file: textName, text: definitions }] : definitions;
}

/** Definition files, and those directly in folders. @throws Error for a path that cannot be read */
export async function loadSources(paths: readonly string[]): Promise<readonly SourceFile[]> {
  const sources: SourceFile[] = [];
  for (const path of paths)
    try {
      if ((await stat(path)).isDirectory()) sources.push(...(await loadDirectory(path)));
      else sources.push({ file: path, text: await readFile(path, 'utf8') });
    } catch (error) {
      throw unreadable(path, error);
    }
  return sources;
}

/** A file, or all YAML and JSON files below a folder. @throws Error for a path that cannot be read */
export async function loadTestSources(path: string): Promise<readonly SourceFile[]> {
  try {
    if (!(await stat(path)).isDirectory())
      return [{ file: path, text: await readFile(path, 'utf8') }];
    const entries = await readdir(path, { withFileTypes: true, recursive: true });
    const files = entries
      .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !/(?:^|\/)(?:\.[^./]|node_modules\/)/.test(file))
      .sort();
    return Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })));
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Error {
  return new Error(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
}
