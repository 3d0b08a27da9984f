import { fileReason, watchFolders } from '../../runtime/index.ts';
import type { Clock } from '../../util/clock.ts';
import type { Output } from '../output.ts';

export interface WatchFilesOptions {
  readonly clock: Clock;
  readonly output: Output;
  /** Does the work, and returns the folders of all files that it depends on. */
  readonly run: () => Promise<readonly string[]>;
}

/** Does work once, and again whenever a file changes in its folders, until the signal aborts. */
export async function watchFiles(
  { clock, output, run }: WatchFilesOptions,
  signal: AbortSignal,
): Promise<void> {
  let folders: readonly string[] = [];
  let stop = () => {};
  let changed = Promise.withResolvers<void>();
  const onAbort = () => changed.resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal.aborted) {
      changed = Promise.withResolvers<void>();
      const found = [...new Set(await run())].sort();
      if (found.join('\0') !== folders.join('\0')) {
        stop();
        folders = found;
        stop = watchFolders({
          ...{ folders, clock },
          onChange: () => changed.resolve(),
          onFailure: (error) => output.error(`homeostat: Cannot watch: ${fileReason(error)}`),
        });
        // What changed before the watch began was not noticed.
        continue;
      }
      if (signal.aborted) return;
      await changed.promise;
    }
  } finally {
    stop();
    signal.removeEventListener('abort', onAbort);
  }
}
