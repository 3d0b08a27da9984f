import { fileReason } from '#files';
import { loadPath, loadTree } from '#runtime';
import type { Definitions, SourceFile } from './api.ts';

/** The files of definitions that are given as one text have this name in diagnostics. */
const textName = '<text>';

/** Definitions as files. */
export function sourcesOf(definitions: Definitions): readonly SourceFile[] {
  return typeof definitions === 'string' ? [{ file: textName, text: definitions }] : definitions;
}

/** Definition files, and those directly in folders. @throws Error for a path that cannot be read */
export async function loadSources(paths: readonly string[]): Promise<readonly SourceFile[]> {
  return (await Promise.all(paths.map(loadFiles))).flat();
}

/** A file, or the YAML and JSON files directly in a folder. @throws Error for a path that cannot be read */
export function loadFiles(path: string): Promise<readonly SourceFile[]> {
  return readAs(loadPath, path);
}

/** A file, or all YAML and JSON files below a folder. @throws Error for a path that cannot be read */
export function loadTestSources(path: string): Promise<readonly SourceFile[]> {
  return readAs(loadTree, path);
}

async function readAs(
  read: (path: string) => Promise<readonly SourceFile[]>,
  path: string,
): Promise<readonly SourceFile[]> {
  try {
    return await read(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Error {
  return new Error(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
}
