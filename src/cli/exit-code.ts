import type { Output } from './output.ts';

/** Exit codes of the process. */
export const exitCode = {
  ok: 0,
  /** A file of the user has errors; they were printed. */
  failure: 1,
  /** Wrong use, or it could not start. */
  usage: 2,
  /** Its output is no longer read: as of a process that is ended by SIGPIPE, which Node does not let happen. */
  brokenPipe: 141,
} as const;

/** Ends a command with a message for people instead of a stack trace. */
export class CliError extends Error {
  readonly hint: string | undefined;
  constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.hint = options.hint;
  }
}

/** Prints the message of an error, with its hint. */
export function printCliError({ message, hint }: CliError, output: Output): void {
  output.error(`homeostat: ${message}`);
  if (hint !== undefined) output.error(`  hint: ${hint}`);
}
