import { fileReason } from '#files';
import { watchFolders } from '#runtime';
import type { Clock } from '#util/clock.ts';
import { CliError, printCliError } from '../exit-code.ts';
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
      // Before the work, so that no change is missed; each time, because a folder may be another one of the same name.
      stop();
      stop = watchFolders({
        folders,
        clock,
        onChange: () => changed.resolve(),
        onFailure: (error) => output.error(`homeostat: Cannot watch: ${fileReason(error)}`),
      });
      const found = [...new Set(await run())].sort();
      const isWatched = found.join('\0') === folders.join('\0');
      folders = found;
      if (isWatched && !signal.aborted) await changed.promise;
    }
  } finally {
    stop();
    signal.removeEventListener('abort', onAbort);
  }
}

/** What a command prints, and the message of a CliError that it ends with: a watch prints it only where it has changed. */
export async function printedBy(
  output: Output,
  command: (output: Output) => Promise<unknown>,
): Promise<string> {
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const collecting = { ...output, print, error: print };
  await command(collecting).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    printCliError(error, collecting);
  });
  return printed.join('\n');
}
