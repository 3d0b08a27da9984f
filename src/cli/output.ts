import { ProgressLine } from './progress-line.ts';

/** Output of a command for people. Logs are separate. */
export interface Output {
  /** A line on standard output. */
  print(text: string): void;
  /** A line on standard error. */
  error(text: string): void;
  /** Shows how far the command is, in a line that the next call replaces. @default undefined: standard error is not a terminal */
  progress?(text: string): void;
  /** Whether output shows colors. */
  readonly hasColor: boolean;
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean;
}

/** The output of a process. */
interface ProcessOutput extends Output {
  /** Erases the progress. */
  end(): void;
}

/** What is used of a process. */
interface OutputProcess {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly stderr: {
    write(text: string): unknown;
    readonly isTTY?: boolean;
    readonly columns?: number;
  };
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The terminal. `--no-color`, `NO_COLOR` and pipes turn colors off; a pipe of standard error also turns progress off. */
export function createTerminalOutput({ stdout, stderr, argv, env }: OutputProcess): ProcessOutput {
  const isTerminal = stderr.isTTY === true;
  const isDenied = argv.includes('--no-color') || (env.NO_COLOR ?? '') !== '';
  const line = isTerminal
    ? new ProgressLine({ stream: stderr, nowMs: () => performance.now() })
    : undefined;
  return {
    print(text) {
      line?.erase();
      stdout.write(`${text}\n`);
    },
    error(text) {
      line?.erase();
      stderr.write(`${text}\n`);
    },
    ...(line && { progress: (text: string) => line.show(text) }),
    end: () => line?.erase(),
    isTerminal,
    hasColor: isTerminal && stdout.isTTY === true && !isDenied,
  };
}
