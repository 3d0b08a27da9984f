import type { BigIntStats } from 'node:fs';
import { lstat, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { definitionFilesIn, NotReadError } from './load-directory.ts';
import { whyNotRead } from './why-not-read.ts';

/** One file as it was found. */
export interface FoundFile {
  /** As the user wrote it. */
  readonly path: string;
  /** Changes whenever the file does, but for two writes within one tick of the file system's clock. */
  readonly mark: string;
  /** Empty where it cannot be read. */
  readonly text: string;
  /** Why it cannot be read. @default undefined: it can */
  readonly unreadable?: string;
}

/** What stood in a directory, or the one file, at a moment. */
export interface FolderLook {
  /** Which directory it is: another one may be mounted in its place. */
  readonly identity: string;
  /** What is to be watched: the directory itself, or that of the one file; and where a link to it stands, which may be swapped. */
  readonly folders: readonly string[];
  readonly files: readonly FoundFile[];
}

export interface LookOptions {
  /** What need not be read again where it is marked as before. @default undefined: everything is read */
  readonly known?: FolderLook | undefined;
  /** Absolute paths of files that are no definitions. @default none */
  readonly skips?: readonly string[];
}

/**
 * Looks at a directory or a file.
 * @throws Error of `node:fs` when the directory, or the one file, is not there.
 */
export async function lookAt(path: string, options: LookOptions = {}): Promise<FolderLook> {
  const [itself, link] = await Promise.all([stat(path, { bigint: true }), lstat(path)]);
  const { skips = [], known } = options;
  if (!itself.isDirectory()) {
    const file = await lookAtFile(path, known);
    // Editors put another file in its place.
    return { identity: path, folders: [dirname(path)], files: file === undefined ? [] : [file] };
  }
  const paths = (await definitionFilesIn(path)).map((name) => join(path, name));
  const found = await Promise.all(
    paths.filter((each) => !skips.includes(resolve(each))).map((each) => lookAtFile(each, known)),
  );
  return {
    identity: `${itself.dev}:${itself.ino}`,
    folders: link.isSymbolicLink() ? [path, dirname(resolve(path))] : [path],
    files: found.filter((file) => file !== undefined),
  };
}

/** Do two looks show the same files, unchanged? */
export function isSameLook(a: FolderLook, b: FolderLook): boolean {
  return a.identity === b.identity && marksOf(a) === marksOf(b);
}

/** In the words of the system: `no such file or directory`. */
export function fileReason(error: unknown): string {
  if (error instanceof Error && 'errno' in error && typeof error.errno === 'number') {
    return getSystemErrorMessage(error.errno);
  }
  if (error instanceof NotReadError) return error.message;
  return String(error);
}

function marksOf({ files }: FolderLook): string {
  return files.map(({ path, mark }) => `${path}\0${mark}`).join('\0');
}

async function lookAtFile(
  path: string,
  known: FolderLook | undefined,
): Promise<FoundFile | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    if (stats.isDirectory()) return undefined;
    const mark = markOf(stats);
    const before = known?.files.find((file) => file.path === path && file.mark === mark);
    if (before !== undefined) return before;
    const unreadable = whyNotRead(stats);
    if (unreadable !== undefined) return { path, mark, text: '', unreadable };
    return { path, mark, text: await readFile(path, 'utf8') };
  } catch (error) {
    const reason = fileReason(error);
    return { path, mark: reason, text: '', unreadable: reason };
  }
}

function markOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
