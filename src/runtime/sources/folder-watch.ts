import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '../../util/clock.ts';

export interface FolderWatchOptions {
  readonly folders: readonly string[];
  readonly clock: Clock;
  /** Called some time after one or more changes, with the names of the files. */
  readonly onChange: (names: ReadonlySet<string>) => void;
  /** A folder cannot be watched (any more). */
  readonly onFailure: (error: unknown) => void;
}

/** Editors write a file in several steps. */
const settleMs = 60;
/** Who never rests is told of nevertheless. */
const mostSettleMs = 500;

/** Tells when files directly in folders are saved, until the returned function is called. A folder that is not there is not watched. */
export function watchFolders(options: FolderWatchOptions): () => void {
  const { folders, clock, onChange, onFailure } = options;
  let changed = new Set<string>();
  let sinceMs: number | undefined;
  let cancel: (() => void) | undefined;
  const tell = () => {
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
    cancel = clock.after(Math.min(settleMs, Math.max(0, sinceMs + mostSettleMs - nowMs)), tell);
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
