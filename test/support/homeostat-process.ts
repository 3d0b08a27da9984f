import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const executable = fileURLToPath(new URL('../../bin/homeostat', import.meta.url));

export interface HomeostatOptions {
  readonly kubeconfig: string;
  /** File names and texts; written into a folder of the process. */
  readonly definitions: Readonly<Record<string, string>>;
  readonly logLevel?: 'debug' | 'info';
}

interface LogEntry {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** `homeostat run` as a process of its own, from source. */
export class HomeostatProcess {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #entries: LogEntry[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #exit: Promise<number | null>;
  #errors = '';

  constructor({ kubeconfig, definitions, logLevel = 'info' }: HomeostatOptions) {
    this.#folder = mkdtempSync(join(tmpdir(), 'homeostat-'));
    for (const [name, text] of Object.entries(definitions))
      writeFileSync(join(this.#folder, name), text);
    const flags = [
      '--definitions',
      this.#folder,
      '--kubeconfig',
      kubeconfig,
      '--http',
      '127.0.0.1:0',
    ];
    this.#child = spawn(executable, ['run', ...flags, '--log-level', logLevel], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error('The process has no pipes');
    createInterface({ input: stdout }).on('line', (line) => this.#take(line));
    stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.#errors += chunk;
    });
    this.#exit = once(this.#child, 'exit').then(([code]) => {
      this.#tell();
      return code as number | null;
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it wrote on standard error: diagnostics. */
  get errors(): string {
    return this.#errors;
  }

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  /** Resolves when all its definitions run or are refused. */
  async whenReady(definitions = 1): Promise<void> {
    const isSaid = ({ msg }: LogEntry) =>
      msg === 'Definition running' || msg === 'Definition refused';
    await this.#until(() => this.#entries.filter(isSaid).length >= definitions);
  }

  /** Resolves with the first log line of that message. */
  async whenLogged(message: string): Promise<LogEntry> {
    await this.#until(() => this.#entries.some(({ msg }) => msg === message));
    return this.#entries.find(({ msg }) => msg === message) as LogEntry;
  }

  /** Resolves when there are so many log lines of that message. */
  async whenLoggedTimes(message: string, times: number): Promise<void> {
    await this.#until(() => this.#entries.filter(({ msg }) => msg === message).length >= times);
  }

  /** The base address of its health server. */
  async url(): Promise<string> {
    return String((await this.whenLogged('Starting')).http);
  }

  /** Resolves with the exit code. */
  ended(): Promise<number | null> {
    return this.#exit;
  }

  /** Asks it to stop; resolves with the exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    const code = await this.#exit;
    rmSync(this.#folder, { recursive: true, force: true });
    return code;
  }

  #take(line: string): void {
    this.#entries.push(JSON.parse(line));
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #until(isMet: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const { exitCode, signalCode } = this.#child;
        if (!isMet() && exitCode === null && signalCode === null) return;
        this.#listeners.delete(check);
        if (isMet()) resolve();
        else reject(new Error(`homeostat ended with ${exitCode ?? signalCode}: ${this.#errors}`));
      };
      this.#listeners.add(check);
      check();
    });
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
