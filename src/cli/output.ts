/** Output of a command for people. Logs are separate. */
export interface Output {
  /** A line on standard output. */
  print(text: string): void;
  /** A line on standard error. */
  error(text: string): void;
  /** Whether standard error shows colors. */
  readonly hasColor: boolean;
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean;
}

/** The terminal. `NO_COLOR` and pipes turn colors off. */
export function createTerminalOutput(): Output {
  return {
    print: (text) => void process.stdout.write(`${text}\n`),
    error: (text) => void process.stderr.write(`${text}\n`),
    isTerminal: process.stderr.isTTY === true,
    hasColor: process.stderr.isTTY === true && !process.env.NO_COLOR,
  };
}
