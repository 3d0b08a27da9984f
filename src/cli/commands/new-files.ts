import { access, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileReason } from '#files';
import { CliError } from '../exit-code.ts';

/** A file that a command creates. */
export interface NewFile {
  readonly file: string;
  readonly text: string;
  /** What it is made of, for messages. @default undefined: one command makes it, of nothing else */
  readonly source?: string;
}

/** Commands that create files never overwrite one. @throws CliError for the first file that exists */
export async function assertAbsent(files: readonly string[]): Promise<void> {
  for (const file of files)
    if (await exists(file))
      throw new CliError(`"${file}" exists already`, { hint: 'Choose another name or folder' });
}

/**
 * Creates files and their folders: all of them, or nothing.
 * @throws CliError for two files of one name, a file that exists, and one that cannot be written; then there is nothing new
 */
export async function writeNewFiles(files: readonly NewFile[]): Promise<void> {
  rejectEqualNames(files);
  await assertAbsent(files.map(({ file }) => file));
  const undo: (() => Promise<unknown>)[] = [];
  for (const { file, text } of files)
    try {
      undo.push(...(await createFolders(dirname(file))));
      // Never overwrites: the file may have been created meanwhile.
      await writeFile(file, '', { flag: 'wx' });
      undo.push(() => rm(file));
      await writeFile(file, text);
    } catch (error) {
      for (const each of undo.reverse()) await each().catch(() => undefined);
      throw new CliError(`Cannot write "${file}": ${fileReason(error)}`, { cause: error });
    }
}

function rejectEqualNames(files: readonly NewFile[]): void {
  const byPath = new Map<string, NewFile>();
  for (const each of files) {
    // Some file systems do not tell upper case from lower case.
    const path = resolve(each.file).toLowerCase();
    const other = byPath.get(path);
    if (other !== undefined)
      throw new CliError(
        `${other.source ?? other.file} and ${each.source ?? each.file} would both be written to "${each.file}"`,
        { hint: 'Rename one of them, or convert them into two folders' },
      );
    byPath.set(path, each);
  }
}

/** Creates a folder and those above it. Returns what removes the new ones, while they are empty. */
async function createFolders(folder: string): Promise<readonly (() => Promise<unknown>)[]> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return [];
  const created: string[] = [];
  for (let each = resolve(folder); each.length >= resolve(first).length; each = dirname(each))
    created.unshift(each);
  return created.map((each) => () => rmdir(each));
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
