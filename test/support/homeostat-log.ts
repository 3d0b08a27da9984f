import { patienceMs } from './patience.ts';

/** How much of the log is shown when something was waited for in vain. */
const shownLines = 30;

export interface LogEntry {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** What a runtime logs, and waits for it. */
export class HomeostatLog {
  readonly entries: LogEntry[] = [];
  /** What it wrote on standard error: diagnostics. */
  errors = '';
  readonly #listeners = new Set<() => void>();
  #rest = '';
  /** Why no more will come. */
  #end: string | undefined;

  /** A process that is killed may leave half a line, which is dropped. */
  take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.entries.push(JSON.parse(line));
    this.#notify();
  }

  end(reason: string): void {
    this.#end = reason;
    this.#notify();
  }

  /** Resolves when all definitions run, are rejected or wait for their kind. */
  whenReady(definitions: number): Promise<void> {
    const isSaid = ({ msg }: LogEntry) =>
      msg === 'Definition running' ||
      msg === 'Definition rejected' ||
      msg === 'Definition waits for its kind' ||
      msg === 'File has errors, its definitions are rejected';
    return this.#until(
      () => this.entries.filter(isSaid).length >= definitions,
      `${definitions} definitions running or rejected`,
    );
  }

  /** Resolves with the first line of that message. */
  async whenLogged(message: string): Promise<LogEntry> {
    await this.whenLoggedTimes(message, 1);
    return this.entries.find(({ msg }) => msg === message) as LogEntry;
  }

  /** The base address of the health server. */
  async url(): Promise<string> {
    return String((await this.whenLogged('Starting')).http);
  }

  /** Resolves when there are so many lines of that message. */
  whenLoggedTimes(message: string, times: number): Promise<void> {
    return this.#until(
      () => this.entries.filter(({ msg }) => msg === message).length >= times,
      `"${message}" in the log, ${times} times`,
    );
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #until(isMet: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        this.#listeners.delete(check);
        end();
      };
      const fail = (why: string) =>
        settle(() => reject(new Error(`Expected ${what}, but ${why}: ${this.#lastLines()}`)));
      const timer = setTimeout(() => fail(`waited ${patienceMs} ms in vain`), patienceMs);
      const check = () => {
        if (isMet()) settle(resolve);
        else if (this.#end !== undefined) fail(this.#end);
      };
      this.#listeners.add(check);
      check();
    });
  }

  #lastLines(): string {
    const lines = this.entries.slice(-shownLines).map((entry) => JSON.stringify(entry));
    return [...lines, this.errors.slice(-3_000)].join('\n');
  }
}
