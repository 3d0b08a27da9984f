import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '../util/clock.ts';

export interface FolderWatchOptions {
  readonly folders: readonly string[];
  readonly clock: Clock;
  /** Called some time after one or more changes, with the names of the files. */
  readonly onChange: (names: ReadonlySet<string>) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Editors write a file in several steps. */
const settleMs = 60;

/** Tells when files directly in folders are saved, until the returned function is called. A folder that is not there is not watched. */
export function watchFolders(options: FolderWatchOptions): () => void {
  const { folders, clock, onChange, onFailure } = options;
  let changed = new Set<string>();
  let cancel: (() => void) | undefined;
  const tell = () => {
    const names = changed;
    changed = new Set();
    onChange(names);
  };
  const note = (name: string | null) => {
    if (name !== null) changed.add(name);
    cancel?.();
    cancel = clock.after(settleMs, tell);
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
