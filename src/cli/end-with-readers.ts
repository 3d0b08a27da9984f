import { getSystemErrorMessage } from 'node:util';
import { exitCode } from './exit-code.ts';

/** What is needed of a process. */
export interface WritingProcess {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  exitCode?: number | string | null | undefined;
  once(event: 'exit', listener: () => void): unknown;
}

/**
 * Lets a command end quietly when nobody reads what it writes any more (`homeostat get pods | head -1`): its work is aborted, what it
 * writes until then is dropped. Where its output cannot be written for another reason (a full disk) that is told.
 */
export function endWithReaders(
  writing: WritingProcess,
  stopper: AbortController,
): { readonly hasBegun: boolean } {
  let code: number | undefined;
  for (const stream of [writing.stdout, writing.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (code !== undefined) return;
      code = error.code === 'EPIPE' ? exitCode.unread : exitCode.usage;
      stopper.abort(error);
      if (code === exitCode.usage) writing.stderr.write(`homeostat: ${problemOf(error)}\n`);
    });
  // A command that has come to its end may have set its own code before the stream tells.
  writing.once('exit', () => {
    if (code !== undefined) writing.exitCode = code;
  });
  return {
    get hasBegun() {
      return code !== undefined;
    },
  };
}

function problemOf({ errno, message }: NodeJS.ErrnoException): string {
  const reason = errno === undefined ? message : getSystemErrorMessage(errno);
  return `Cannot write the output: ${reason}`;
}
