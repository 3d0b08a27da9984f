import { type LogFields, type Logger, type LogLevel, logLevels } from '#telemetry';

export interface TextLoggerOptions {
  readonly level: LogLevel;
  readonly print: (line: string) => void;
}

type LineLevel = 'debug' | 'info' | 'warn' | 'error';

/** A logger for people at a terminal: `warn  Definition cannot start, will retry  definition=podset code=forbidden`. */
export function createTextLogger(options: TextLoggerOptions): Logger {
  return new TextLogger(options, {});
}

class TextLogger implements Logger {
  readonly #options: TextLoggerOptions;
  readonly #fields: LogFields;

  constructor(options: TextLoggerOptions, fields: LogFields) {
    this.#options = options;
    this.#fields = fields;
  }

  debug(fields: LogFields, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: LogFields, message: string): void {
    this.#write('error', fields, message);
  }

  child(fields: LogFields): Logger {
    return new TextLogger(this.#options, { ...this.#fields, ...fields });
  }

  #write(level: LineLevel, fields: LogFields, message: string): void {
    const { level: least, print } = this.#options;
    if (logLevels.indexOf(level) < logLevels.indexOf(least)) return;
    const all = Object.entries({ ...this.#fields, ...fields });
    const texts = all.map(([name, value]) => `${name}=${textOf(value)}`);
    print([`${level.padEnd(5)} ${message}`, ...texts].join('  '));
  }
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.stack ?? value.message;
  if (typeof value === 'string') return /\s/.test(value) ? JSON.stringify(value) : value;
  return JSON.stringify(value) ?? String(value);
}
