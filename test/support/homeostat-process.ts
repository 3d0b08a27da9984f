import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchNow, type ProcessEnd, type SupervisedProcess } from './control-plane/index.ts';
import { patienceMs } from './patience.ts';

const executable = fileURLToPath(new URL('../../bin/homeostat', import.meta.url));
/** How much of its log is shown when it was waited for in vain. */
const shownLines = 30;

export interface HomeostatOptions {
  readonly kubeconfig: string;
  /** File names and texts; written into a folder of the process. @default undefined: it reads no folder */
  readonly definitions?: Readonly<Record<string, string>>;
  readonly logLevel?: 'debug' | 'info';
  /** Flags of `homeostat run` besides. @default none */
  readonly flags?: readonly string[];
  /** What outlives the process. @default a folder of its own */
  readonly stateFolder?: string;
  /** Where the definitions are written; it outlives the process. @default a folder of its own */
  readonly folder?: string;
  /** Added to our own environment. */
  readonly env?: Readonly<Record<string, string>>;
}

interface LogEntry {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** `homeostat run` as a process of its own, from source. It does not outlive the test, however that ends. */
export class HomeostatProcess {
  readonly #process: SupervisedProcess;
  readonly #folder: string;
  readonly #ownFolder: string | undefined;
  readonly #stateFolder = mkdtempSync(join(tmpdir(), 'homeostat-state-'));
  readonly #entries: LogEntry[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #exit: Promise<number | null>;
  #end: ProcessEnd | undefined;
  #rest = '';
  #errors = '';

  constructor({
    kubeconfig,
    definitions,
    logLevel = 'info',
    env = {},
    flags = [],
    stateFolder,
    folder,
  }: HomeostatOptions) {
    this.#ownFolder = folder === undefined ? mkdtempSync(join(tmpdir(), 'homeostat-')) : undefined;
    this.#folder = folder ?? this.#ownFolder ?? '';
    for (const [name, text] of Object.entries(definitions ?? {}))
      writeFileSync(join(this.#folder, name), text);
    this.#process = launchNow({
      command: executable,
      args: [
        'run',
        ...(definitions === undefined ? [] : ['--definitions', this.#folder]),
        ...['--kubeconfig', kubeconfig],
        ...['--http', '127.0.0.1:0'],
        ...['--log-level', logLevel],
        ...['--state-dir', stateFolder ?? this.#stateFolder],
        ...flags,
      ],
      env,
      onOutput: (text) => this.#take(text),
      onErrors: (text) => {
        this.#errors += text;
      },
    });
    this.#exit = this.#process.ended.then((end) => {
      this.#end = end;
      this.#tell();
      return end.code;
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Writes a file of its folder of definitions, new or anew. */
  write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }

  /** Removes a file of its folder. */
  remove(name: string): void {
    rmSync(join(this.#folder, name));
  }

  /** What it wrote on standard error: diagnostics. */
  get errors(): string {
    return this.#errors;
  }

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  /** Resolves when all its definitions run, are refused or wait for their kind. */
  async whenReady(definitions = 1): Promise<void> {
    const isSaid = ({ msg }: LogEntry) =>
      msg === 'Definition running' ||
      msg === 'Definition refused' ||
      msg === 'Definition waits for its kind' ||
      msg === 'File with mistakes, its definitions are refused';
    await this.#until(
      () => this.#entries.filter(isSaid).length >= definitions,
      `${definitions} definitions running or refused`,
    );
  }

  /** Resolves with the first log line of that message. */
  async whenLogged(message: string): Promise<LogEntry> {
    await this.whenLoggedTimes(message, 1);
    return this.#entries.find(({ msg }) => msg === message) as LogEntry;
  }

  /** Resolves when there are so many log lines of that message. */
  async whenLoggedTimes(message: string, times: number): Promise<void> {
    await this.#until(
      () => this.#entries.filter(({ msg }) => msg === message).length >= times,
      `"${message}" in the log, ${times} times`,
    );
  }

  /** The base address of its health server. */
  async url(): Promise<string> {
    return String((await this.whenLogged('Starting')).http);
  }

  /** Resolves with the exit code. */
  ended(): Promise<number | null> {
    return this.#exit;
  }

  /** Asks it to stop, or kills it; resolves with the exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    await this.#process.stop(signal === 'SIGKILL' ? 0 : patienceMs);
    for (const folder of [this.#ownFolder, this.#stateFolder])
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return this.#exit;
  }

  /** Whoever is killed may leave half a line; nobody reads that. */
  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#entries.push(JSON.parse(line));
    this.#tell();
  }

  #tell(): void {
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
        settle(() => reject(new Error(`Expected ${what}, but ${why}: ${this.#lastWords()}`)));
      const timer = setTimeout(() => fail(`waited ${patienceMs} ms in vain`), patienceMs);
      const check = () => {
        if (isMet()) settle(resolve);
        else if (this.#end !== undefined)
          fail(`homeostat ended with ${this.#end.code ?? this.#end.signal}`);
      };
      this.#listeners.add(check);
      check();
    });
  }

  #lastWords(): string {
    const lines = this.#entries.slice(-shownLines).map((entry) => JSON.stringify(entry));
    return [...lines, this.#errors.slice(-3_000)].join('\n');
  }
}

/** Runs a command of the CLI to its end. */
export async function runCli(...args: readonly string[]) {
  const child = spawn(executable, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    texts.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    texts.stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { code: code as number, ...texts };
}
