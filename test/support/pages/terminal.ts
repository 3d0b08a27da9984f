import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { launchNow, type SupervisedProcess } from '../control-plane/index.ts';
import { homeostatCommand } from '../executable.ts';
import { patienceMs } from '../patience.ts';

/** The folder as pages show it. */
const shownFolder = '/home/me/first-operator';

/** The computer of a reader: a fresh folder, and `homeostat` on the path. Commands are those of a shell. */
export class Terminal {
  readonly folder: string;
  readonly #home: string;
  readonly #environment: Readonly<Record<string, string>>;

  constructor({ kubeconfig = '' }: { readonly kubeconfig?: string } = {}) {
    this.#home = mkdtempSync(join(tmpdir(), 'homeostat-page-'));
    this.folder = join(this.#home, 'first-operator');
    mkdirSync(this.folder);
    const bin = join(this.#home, 'bin');
    const words = homeostatCommand().map((word) => `'${word}'`);
    mkdirSync(bin);
    writeFileSync(join(bin, 'homeostat'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, {
      mode: 0o755,
    });
    this.#environment = {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: this.#home,
      KUBECONFIG: kubeconfig,
      NO_COLOR: '1',
      COLUMNS: '120',
    };
  }

  /** Writes a file below the folder. */
  save(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Runs a command to its end; both of its outputs, line by line. */
  async run(command: string): Promise<{ readonly code: number | null; readonly lines: string[] }> {
    let output = '';
    const process = this.#launch(command, (text) => {
      output += text;
    });
    const { code } = await process.ended;
    return { code, lines: this.#linesOf(output) };
  }

  /** Starts a command that runs until it is stopped. */
  start(command: string): RunningCommand {
    let output = '';
    const process = this.#launch(`exec ${command}`, (text) => {
      output += text;
    });
    return {
      lines: () => this.#linesOf(output),
      stop: async () => void (await process.stop(patienceMs)),
    };
  }

  /** Removes the folder. */
  clear(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  #launch(command: string, onOutput: (text: string) => void): SupervisedProcess {
    return launchNow({
      command: '/bin/sh',
      args: ['-c', `exec 2>&1; ${command}`],
      cwd: this.folder,
      env: this.#environment,
      // A sandbox in this process keeps the real time while it sees a process of ours.
      keepsUsAlive: true,
      onOutput,
      onErrors: onOutput,
    });
  }

  #linesOf(output: string): string[] {
    const text = output.replaceAll(this.folder, shownFolder).replace(/\n+$/, '');
    return text === '' ? [] : text.split('\n').map((line) => line.trimEnd());
  }
}

/** A command that keeps running in a terminal of its own. */
export interface RunningCommand {
  /** All that it has printed so far. */
  lines(): readonly string[];
  stop(): Promise<void>;
}
