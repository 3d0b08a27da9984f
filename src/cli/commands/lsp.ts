import { serveLanguage } from '../../lsp/index.ts';
import { createSystemClock } from '../../util/clock.ts';
import { exitCode } from '../exit-code.ts';
import { version } from '../version.ts';

/**
 * `homeostat lsp`: a language server on standard input and output.
 * @returns the exit code: 1 when the client ends without `shutdown`, as the protocol says.
 */
export async function lsp(signal: AbortSignal): Promise<number> {
  const { stdin: input, stdout: output } = process;
  const end = await serveLanguage({ input, output, clock: createSystemClock(), version }, signal);
  // An open stream would keep the process.
  input.destroy();
  return end === 'shutdown' ? exitCode.ok : exitCode.failure;
}
