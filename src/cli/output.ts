import { printable, printableLine, printableWithColors } from '#util/printable-text.ts';
import { ProgressLine } from './progress-line.ts';

/** `colored`: with codes of colors, whose other parts are printable. Those of a text of a cluster would be printed, too. */
export type OutputText = 'plain' | 'colored';

/**
 * Output of a command for people. Logs are separate. Text of a cluster may contain control characters; they are escaped here, so that none
 * acts on a terminal.
 */
export interface Output {
  /** A line on standard output. `content`: @default 'plain' */
  print(text: string, content?: OutputText): void;
  /** A line on standard error. `content`: @default 'plain' */
  error(text: string, content?: OutputText): void;
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
    print(text, content) {
      line?.erase();
      stdout.write(`${escaped(text, content)}\n`);
    },
    error(text, content) {
      line?.erase();
      stderr.write(`${escaped(text, content)}\n`);
    },
    ...(line && { progress: (text: string) => line.show(printableLine(text)) }),
    end: () => line?.erase(),
    isTerminal,
    hasColor: isTerminal && stdout.isTTY === true && !isDenied,
  };
}

function escaped(text: string, content: OutputText = 'plain'): string {
  return content === 'colored' ? printableWithColors(text) : printable(text);
}
