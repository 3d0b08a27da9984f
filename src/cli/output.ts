/** Where a command talks to people; logs are something else. */
export interface Output {
  /** A line on standard output. */
  print(text: string): void;
  /** A line on standard error. */
  error(text: string): void;
  /** Does standard error show colors? */
  readonly hasColor: boolean;
  /** Does somebody look at standard error? */
  readonly isWatched: boolean;
}

/** The terminal. `NO_COLOR` and pipes turn colors off. */
export function createTerminalOutput(): Output {
  return {
    print: (text) => void process.stdout.write(`${text}\n`),
    error: (text) => void process.stderr.write(`${text}\n`),
    isWatched: process.stderr.isTTY === true,
    hasColor: process.stderr.isTTY === true && !process.env.NO_COLOR,
  };
}
