import { type BigIntStats, type FSWatcher, watch } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileReason, maxDefinitionMebibytes, readRegularFile, unreadableReason } from '#files';
import type { Clock } from '#util/clock.ts';
import { isDefinitionFile } from './definition-names.ts';

/** A scanned file. */
export interface ScannedFile {
  /** Path as the user wrote it. */
  readonly path: string;
  /** Changes with the file, except for two writes within one tick of the file system's clock. */
  readonly fingerprint: string;
  /** Empty if unreadable. */
  readonly text: string;
  /** Why the file cannot be read. @default undefined: readable */
  readonly unreadable?: string;
}

/** Contents of a directory, or one file, at one time. */
export interface FolderScan {
  /** Identity of the directory: another one may be mounted in its place. */
  readonly identity: string;
  /** Folders to watch: the directory, or that of the file, and the folder of a link to it, which may be swapped. */
  readonly folders: readonly string[];
  readonly files: readonly ScannedFile[];
}

interface ScanOptions {
  /** Scan whose unchanged files are not read again. @default undefined: read everything */
  readonly previous?: FolderScan | undefined;
  /** Absolute paths of files to ignore. @default none */
  readonly skips?: readonly string[];
}

/**
 * Scans a directory or a file.
 * @throws Error of `node:fs` if it does not exist.
 */
export async function scanFolder(path: string, options: ScanOptions = {}): Promise<FolderScan> {
  const [itself, link] = await Promise.all([stat(path, { bigint: true }), lstat(path)]);
  const { skips = [], previous: known } = options;
  if (!itself.isDirectory()) {
    const file = await scanFile(path, known);
    // Editors replace the file, so watch its directory.
    return { identity: path, folders: [dirname(path)], files: file === undefined ? [] : [file] };
  }
  const paths = (await definitionFilesIn(path)).map((name) => join(path, name));
  const found = await Promise.all(
    paths.filter((each) => !skips.includes(resolve(each))).map((each) => scanFile(each, known)),
  );
  return {
    identity: `${itself.dev}:${itself.ino}`,
    folders: link.isSymbolicLink() ? [path, dirname(resolve(path))] : [path],
    files: found.filter((file) => file !== undefined),
  };
}

/** Whether two scans are equal. */
export function isSameScan(a: FolderScan, b: FolderScan): boolean {
  return a.identity === b.identity && fingerprintsOf(a) === fingerprintsOf(b);
}

function fingerprintsOf({ files }: FolderScan): string {
  return files.map(({ path, fingerprint }) => `${path}\0${fingerprint}`).join('\0');
}

async function scanFile(
  path: string,
  known: FolderScan | undefined,
): Promise<ScannedFile | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    if (stats.isDirectory()) return undefined;
    const fingerprint = fingerprintOf(stats);
    const before = known?.files.find(
      (file) => file.path === path && file.fingerprint === fingerprint,
    );
    if (before !== undefined) return before;
    const unreadable = unreadableReason(stats, maxDefinitionMebibytes);
    if (unreadable !== undefined) return { path, fingerprint, text: '', unreadable };
    return { path, fingerprint, text: await readRegularFile(path, maxDefinitionMebibytes) };
  } catch (error) {
    const reason = fileReason(error);
    return { path, fingerprint: reason, text: '', unreadable: reason };
  }
}

/** Names of the definition files, sorted. @throws Error of `node:fs` */
async function definitionFilesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && isDefinitionFile(entry.name))
    .map((entry) => entry.name)
    .sort();
}

function fingerprintOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

interface FolderWatchOptions {
  readonly folders: readonly string[];
  readonly clock: Clock;
  /** Called with the names of changed files, after a delay. */
  readonly onChange: (names: ReadonlySet<string>) => void;
  /** Called when a folder cannot be watched (any more). */
  readonly onFailure: (error: unknown) => void;
}

/** Delay after the last change: editors write a file in several steps. */
const settleMs = 60;
/** Maximum delay for files that change continuously. */
const maxSettleMs = 500;

/** Reports changed files in folders until the returned function is called. Ignores missing folders. */
export function watchFolders(options: FolderWatchOptions): () => void {
  const { folders, clock, onChange, onFailure } = options;
  let changed = new Set<string>();
  let sinceMs: number | undefined;
  let cancel: (() => void) | undefined;
  const report = () => {
    const names = changed;
    changed = new Set();
    sinceMs = undefined;
    onChange(names);
  };
  const note = (name: string | null) => {
    if (name !== null) changed.add(name);
    const nowMs = clock.monotonicMs();
    sinceMs ??= nowMs;
    cancel?.();
    cancel = clock.after(Math.min(settleMs, Math.max(0, sinceMs + maxSettleMs - nowMs)), report);
  };
  const watchers = folders.map((folder) => watchFolder(folder, note, onFailure));
  return () => {
    cancel?.();
    for (const watcher of watchers) watcher?.close();
  };
}

function watchFolder(
  folder: string,
  note: (name: string | null) => void,
  onFailure: (error: unknown) => void,
): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_event, name) => note(name));
    watcher.on('error', onFailure);
    return watcher;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) onFailure(error);
    return undefined;
  }
}
