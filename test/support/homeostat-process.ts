import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createSystemClock } from '../../src/util/clock.ts';
import { launchNow, type SupervisedProcess } from './control-plane/index.ts';
import { homeostatCommand } from './executable.ts';
import { HomeostatLog, type LogEntry } from './homeostat-log.ts';
import type { HomeostatRuntime, RuntimeOptions } from './homeostat-runtime.ts';
import { patienceMs } from './patience.ts';
import { RuntimeFolder } from './runtime-folder.ts';

export interface HomeostatOptions extends RuntimeOptions {
  readonly kubeconfig: string;
  /** Added to our own environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `homeostat run` as a process of its own, for tests of processes: signals, exit codes, files that outlive it. */
export class HomeostatProcess implements HomeostatRuntime {
  readonly clock = createSystemClock();
  readonly #process: SupervisedProcess;
  readonly #folder: RuntimeFolder;
  readonly #log = new HomeostatLog();
  readonly #exit: Promise<number | null>;

  constructor({ kubeconfig, env = {}, ...options }: HomeostatOptions) {
    this.#folder = new RuntimeFolder(options);
    const [command, ...first] = homeostatCommand();
    this.#process = launchNow({
      command,
      args: [...first, ...this.#folder.arguments(kubeconfig)],
      env,
      onOutput: (text) => this.#log.take(text),
      onErrors: (text) => {
        this.#log.errors += text;
      },
    });
    this.#exit = this.#process.ended.then(({ code, signal }) => {
      this.#log.end(`homeostat ended with ${code ?? signal}`);
      return code;
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  write(name: string, text: string): void {
    this.#folder.write(name, text);
  }

  remove(name: string): void {
    this.#folder.remove(name);
  }

  get errors(): string {
    return this.#log.errors;
  }

  get entries(): readonly LogEntry[] {
    return this.#log.entries;
  }

  whenReady(definitions = 1): Promise<void> {
    return this.#log.whenReady(definitions);
  }

  whenLogged(message: string): Promise<LogEntry> {
    return this.#log.whenLogged(message);
  }

  whenLoggedTimes(message: string, times: number): Promise<void> {
    return this.#log.whenLoggedTimes(message, times);
  }

  url(): Promise<string> {
    return this.#log.url();
  }

  ended(): Promise<number | null> {
    return this.#exit;
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    await this.#process.stop(signal === 'SIGKILL' ? 0 : patienceMs);
    this.#folder.clear();
    return this.#exit;
  }
}

/** Runs a command of the CLI to its end. */
export async function runCli(...args: readonly string[]) {
  const [command, ...first] = homeostatCommand();
  const child = spawn(command, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
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
