import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { launchNow, type ProcessEnd, type SupervisedProcess } from './control-plane/index.ts';
import { homeostatCommand } from './executable.ts';
import { patienceMs } from './patience.ts';

const [command, ...first] = homeostatCommand();

export interface DevProcessOptions {
  /** Below the folder of definitions: `podset.yaml`, `samples/podset.yaml`. */
  readonly files: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** @default 'dev' */
  readonly subcommand?: 'dev' | 'sandbox' | 'console';
  /** Where it works; a new one unless given. It is left alone in the end if it was given. */
  readonly folder?: string;
}

/** `homeostat dev` or `homeostat sandbox` as a process of its own, in a folder of its own. It does not outlive the test. */
export class DevProcess {
  readonly folder: string;
  readonly #ownsFolder: boolean;
  readonly #process: SupervisedProcess;
  readonly #listeners = new Set<() => void>();
  #output = '';
  #end: ProcessEnd | undefined;

  constructor({ files, args = [], folder, subcommand = 'dev' }: DevProcessOptions) {
    this.#ownsFolder = folder === undefined;
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'homeostat-dev-'));
    for (const [name, text] of Object.entries(files)) this.save(name, text);
    const take = (text: string) => {
      this.#output += text;
      this.#tell();
    };
    this.#process = launchNow({
      command,
      args: [...first, subcommand, ...args],
      cwd: this.folder,
      onOutput: take,
      onErrors: take,
    });
    void this.#process.ended.then((end) => {
      this.#end = end;
      this.#tell();
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** All that it has written so far. */
  get output(): string {
    return this.#output;
  }

  get kubeconfig(): string {
    return join(this.folder, '.homeostat', 'kubeconfig');
  }

  /** Runs another command of the CLI in its folder, to its end. */
  run(...args: readonly string[]) {
    return runIn(this.folder, args);
  }

  /** Saves a file below its folder of definitions. */
  save(name: string, text: string): void {
    const path = join(this.folder, 'operators', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  remove(name: string): void {
    rmSync(join(this.folder, 'operators', name));
  }

  /** Resolves with the match when its output holds it. */
  untilSaid(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        this.#listeners.delete(check);
        end();
      };
      const fail = (why: string) =>
        settle(() => reject(new Error(`Expected ${pattern}, but ${why}: ${this.#output}`)));
      const timer = setTimeout(() => fail('waited in vain'), patienceMs);
      const check = () => {
        const match = pattern.exec(this.#output);
        if (match !== null) settle(() => resolve(match));
        else if (this.#end !== undefined) fail('it ended');
      };
      this.#listeners.add(check);
      check();
    });
  }

  /** Resolves with the exit code when it ends by itself. */
  async ended(): Promise<number | null> {
    return (await this.#process.ended).code;
  }

  /** Asks it to stop, or kills it; resolves with the exit code. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const { code } = await this.#process.stop(signal === 'SIGKILL' ? 0 : patienceMs);
    if (this.#ownsFolder) rmSync(this.folder, { recursive: true, force: true });
    return code;
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Runs a command of the CLI in a folder, to its end. */
export async function runIn(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const texts = { stdout: '', stderr: '' };
  const { ended } = launchNow({
    command,
    args: [...first, ...args],
    cwd,
    env,
    keepsUsAlive: true,
    onOutput: (text) => {
      texts.stdout += text;
    },
    onErrors: (text) => {
      texts.stderr += text;
    },
  });
  const { code } = await ended;
  return { code, ...texts };
}

/** Runs a command of the CLI whose output is not read, to its end. */
export async function runUnread(cwd: string, args: readonly string[]) {
  let stderr = '';
  const { ended } = launchNow({
    command: '/bin/sh',
    args: ['-c', '{ "$@"; echo "exit code $?" >&2; } | :', 'sh', command, ...first, ...args],
    cwd,
    keepsUsAlive: true,
    onOutput: () => {},
    onErrors: (text) => {
      stderr += text;
    },
  });
  await ended;
  return stderr;
}
