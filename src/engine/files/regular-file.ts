import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';

/** A path names something that is not read. The message says why; in a directory, it names the file. */
export class UnreadableFileError extends Error {}

/** Maximum size of a definition file in a directory; larger than the limit of a definition. */
export const maxDefinitionMebibytes = 4;
/** Maximum size of a file that a user names; some collections of CustomResourceDefinitions have 10 MiB. */
export const maxNamedMebibytes = 64;

/** What is looked at before a file is opened. */
interface FileStats {
  isFile(): boolean;
  readonly size: number | bigint;
}

/** Why a file is not opened, as a message: reading a pipe would block, and a device may never end. Undefined: it can be read. */
export function unreadableReason(stats: FileStats, maxMebibytes: number): string | undefined {
  if (!stats.isFile()) return 'it is not a regular file';
  if (stats.size > maxMebibytes * 2 ** 20) return `it is larger than ${maxMebibytes} MiB`;
  return undefined;
}

/**
 * The text of a regular file, also behind links. Never blocks: neither on a pipe, nor on a file that becomes one meanwhile.
 * @param maxMebibytes @default 64
 * @throws UnreadableFileError for what is no regular file or too large, Error of `node:fs` for other reasons
 */
export async function readRegularFile(
  path: string,
  maxMebibytes = maxNamedMebibytes,
): Promise<string> {
  // Before it is opened: opening a device may have an effect.
  rejectUnreadable(await stat(path), maxMebibytes);
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await file.stat();
    rejectUnreadable(stats, maxMebibytes);
    // A file of `/proc` has size 0; a file may grow meanwhile.
    const limit = maxMebibytes * 2 ** 20;
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const size = Math.min(limit + 1 - length, Math.max(stats.size - length + 1, 65_536));
      const { bytesRead, buffer } = await file.read(Buffer.alloc(size), 0, size, length);
      if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8');
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
      if (length > limit) rejectUnreadable({ isFile: () => true, size: length }, maxMebibytes);
    }
  } finally {
    await file.close();
  }
}

/** The system's error message, for example `no such file or directory`. */
export function fileReason(error: unknown): string {
  if (error instanceof Error && 'errno' in error && typeof error.errno === 'number') {
    return getSystemErrorMessage(error.errno);
  }
  if (error instanceof UnreadableFileError) return error.message;
  return String(error);
}

function rejectUnreadable(stats: FileStats, maxMebibytes: number): void {
  const reason = unreadableReason(stats, maxMebibytes);
  if (reason !== undefined) throw new UnreadableFileError(reason);
}
