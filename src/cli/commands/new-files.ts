import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileReason } from '../../files/index.ts';
import { CliError } from '../exit-code.ts';

/** Commands that create files never overwrite one. @throws CliError for the first file that exists */
export async function assertAbsent(files: readonly string[]): Promise<void> {
  for (const file of files)
    if (await exists(file))
      throw new CliError(`"${file}" exists already`, { hint: 'Choose another name or folder' });
}

/** Creates a file and its folders. @throws CliError */
export async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    // Never overwrites: the file may have been created meanwhile.
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    throw new CliError(`Cannot write "${file}": ${fileReason(error)}`, { cause: error });
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
