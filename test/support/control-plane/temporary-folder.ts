import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from './supervised-process.ts';

/** A folder that does not outlive this process, however it ends. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Processes that write into the folder die with us too, but not before we do, and on a busy machine not soon after: while
 * one still writes, the folder is not empty when it is to be removed.
 */
const sweepWhenAlone =
  'read -r _ <&3 || while sleep 1; rm -rf "$1" 2>/dev/null; [ -e "$1" ]; do :; done';

export async function makeTemporaryFolder(prefix: string): Promise<TemporaryFolder> {
  const path = mkdtempSync(join(tmpdir(), prefix));
  const janitor = await launch({
    command: '/bin/sh',
    args: ['-c', sweepWhenAlone, 'janitor', path],
    keepsOwnLifeline: true,
  });
  return {
    path,
    async remove() {
      await janitor.stop(0);
      rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
