import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createSystemClock } from '#util/clock.ts';
import { launchNow, type SupervisedProcess } from './control-plane/index.ts';
import { homeostatCommand } from './executable.ts';
import type { RuntimeOptions } from './homeostat-runtime.ts';
import { LoggedRuntime } from './logged-runtime.ts';
import { patienceMs } from './patience.ts';

export interface HomeostatOptions extends RuntimeOptions {
  readonly kubeconfig: string;
  /** Added to our own environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `homeostat run` as a process of its own, for tests of processes: signals, exit codes, files that outlive it. */
export class HomeostatProcess extends LoggedRuntime {
  readonly clock = createSystemClock();
  readonly #process: SupervisedProcess;
  readonly #exit: Promise<number | null>;

  constructor({ kubeconfig, env = {}, ...options }: HomeostatOptions) {
    super(options);
    const [command, ...first] = homeostatCommand();
    this.#process = launchNow({
      command,
      args: [...first, ...this.folder.arguments(kubeconfig)],
      env,
      onOutput: (text) => this.log.take(text),
      onErrors: (text) => {
        this.log.errors += text;
      },
    });
    this.#exit = this.#process.ended.then(({ code, signal }) => {
      this.log.end(`homeostat ended with ${code ?? signal}`);
      return code;
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  ended(): Promise<number | null> {
    return this.#exit;
  }

  async untilGone(): Promise<void> {
    await this.#exit;
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    await this.#process.stop(signal === 'SIGKILL' ? 0 : patienceMs);
    this.folder.clear();
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
