import type { DefinitionManifest } from '#check';
import { fileReason, readRegularFile } from '#files';
import { loadTree } from '#runtime';
import { CliError } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';

/** A file, or all YAML and JSON files below a folder whose text contains one of the words, in order. @throws CliError */
export async function filesWith(
  words: readonly string[],
  path: string,
): Promise<readonly DefinitionManifest[]> {
  try {
    const files = await loadTree(path);
    return files.filter(
      ({ file, text }) => file === path || words.some((word) => text.includes(word)),
    );
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** A file that a test uses, or the definition files of a folder, which may be empty. @throws CliError */
export function loadTestFiles(path: string): Promise<readonly DefinitionManifest[]> {
  return loadManifests([path], { mayBeEmpty: true });
}

/** @throws CliError */
export async function readText(file: string): Promise<string> {
  try {
    return await readRegularFile(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(path: string, error: unknown): CliError {
  return new CliError(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
}
