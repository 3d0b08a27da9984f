import { serveLanguage } from '#lsp';
import { createSystemClock } from '#util/clock.ts';
import { exitCode } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { version } from '../version.ts';
import { loadTestFiles } from './test-files.ts';

/**
 * `homeostat lsp`: a language server on standard input and output.
 * @returns the exit code: 1 when the client ends without `shutdown`, as the protocol says.
 */
export async function lsp({ error }: Output, signal: AbortSignal): Promise<number> {
  const { stdin, stdout } = process;
  if (stdin.isTTY) error('homeostat: "lsp" waits for messages of an editor, which starts it');
  const end = await serveLanguage(
    {
      input: stdin,
      output: stdout,
      clock: createSystemClock(),
      version,
      load: loadTestFiles,
      onBrokenConnection: (reason) => error(`homeostat: Cannot read from the editor: ${reason}`),
    },
    signal,
  );
  // An open stream would keep the process.
  stdin.destroy();
  return end === 'shutdown' ? exitCode.ok : exitCode.failure;
}
