import { getSystemErrorMessage } from 'node:util';
import { CommanderError } from 'commander';
import { CliError, exitCode, printCliError } from './exit-code.ts';
import { createTerminalOutput, type Output } from './output.ts';
import { createProgram } from './program.ts';

/** Reads the command line, runs one command, and sets the exit code: 0 success, 1 diagnostics, 2 wrong use or cannot start; others of `plan`. */
export async function main(): Promise<void> {
  const output = createTerminalOutput(process);
  const stopper = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => stopper.abort(new Error(`Stopped by ${name}`)));
  }
  // A command that reads standard input waits for nothing else.
  stopper.signal.addEventListener('abort', () => process.stdin.destroy(), { once: true });
  const exit = (code: number) => {
    process.exitCode = code;
  };
  const context = { output, signal: stopper.signal, exit };
  const program = createProgram(context, process.argv[2]);
  const { errorCode } = program.called(process.argv.slice(2));
  const ending = exitOnBrokenPipe(process, stopper, errorCode);
  try {
    for (const command of [program, ...program.commands]) command.exitOverride();
    await program.parseAsync();
  } catch (error) {
    // The reader of the output ended the command by closing the pipe; no message could reach it.
    if (!ending.hasBegun) process.exitCode = reportError(error, output, errorCode);
  } finally {
    output.end();
  }
}

function reportError(error: unknown, output: Output, errorCode: number): number {
  // Commander has printed its message (or the help that was asked for) already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : errorCode;
  if (error instanceof CliError) {
    printCliError(error, output);
    return errorCode;
  }
  output.error(
    `homeostat: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return errorCode;
}

/** The parts of a process that are used. */
interface OutputProcess {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  exitCode?: number | string | null | undefined;
  once(event: 'exit', listener: () => void): unknown;
}

/**
 * Ends a command without an error when its output is closed (`homeostat get pods | head -1`): its work is aborted, what it
 * writes until then is dropped. If the output cannot be written for another reason (a full disk), the error is reported.
 */
function exitOnBrokenPipe(
  writing: OutputProcess,
  stopper: AbortController,
  errorCode: number,
): { readonly hasBegun: boolean } {
  let code: number | undefined;
  for (const stream of [writing.stdout, writing.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (code !== undefined) return;
      code = error.code === 'EPIPE' ? exitCode.brokenPipe : errorCode;
      stopper.abort(error);
      if (code === errorCode) writing.stderr.write(`homeostat: ${writeErrorMessage(error)}\n`);
    });
  // A command that has ended may have set its own code before the stream reports an error.
  writing.once('exit', () => {
    if (code !== undefined) writing.exitCode = code;
  });
  return {
    get hasBegun() {
      return code !== undefined;
    },
  };
}

function writeErrorMessage({ errno, message }: NodeJS.ErrnoException): string {
  const reason = errno === undefined ? message : getSystemErrorMessage(errno);
  return `Cannot write the output: ${reason}`;
}
