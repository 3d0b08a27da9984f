import type { DefinitionManifest } from '#check';
import { fileReason, readStream } from '#files';
import { loadPath } from '#runtime';
import { CliError } from './exit-code.ts';

/** Standard input, on the command line and in messages. */
export const standardInput = { path: '-', file: '<stdin>' } as const;

interface LoadManifestsOptions {
  /** Whether a directory without definition files is accepted. @default false */
  readonly mayBeEmpty?: boolean;
  /** Whether a missing or unreadable path is accepted. @default false */
  readonly mayBeMissing?: boolean;
}

/**
 * Loads the manifests of files and directories, in the given order. `-` is standard input.
 * @throws CliError if one cannot be read or a directory has no definition file, unless the options accept it.
 */
export async function loadManifests(
  paths: readonly string[],
  options: LoadManifestsOptions = {},
): Promise<readonly DefinitionManifest[]> {
  const texts: DefinitionManifest[] = [];
  for (const path of paths) texts.push(...(await loadFrom(path, options)));
  return texts;
}

async function loadFrom(
  path: string,
  { mayBeEmpty = false, mayBeMissing = false }: LoadManifestsOptions,
): Promise<readonly DefinitionManifest[]> {
  if (path === standardInput.path)
    return [{ file: standardInput.file, text: await readStandardInput() }];
  try {
    const texts = await loadPath(path);
    if (texts.length > 0 || mayBeEmpty) return texts;
  } catch (error) {
    if (mayBeMissing) return [];
    throw new CliError(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
  }
  throw new CliError(`There is no definition in "${path}"`, {
    hint: 'Definitions are files that end in .yaml, .yml or .json',
  });
}

/** A signal that ends the process closes the stream. @throws CliError */
async function readStandardInput(): Promise<string> {
  try {
    return await readStream(process.stdin);
  } catch (error) {
    throw new CliError(`Cannot read the standard input: ${fileReason(error)}`, { cause: error });
  }
}
