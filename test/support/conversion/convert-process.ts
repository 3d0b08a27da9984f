import { findFreePorts } from '../control-plane/free-ports.ts';
import { launchNow, type SupervisedProcess } from '../control-plane/index.ts';
import { homeostatCommand } from '../executable.ts';
import { patienceMs } from '../patience.ts';
import { sendReview } from './send-review.ts';

interface ConvertProcessOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** By which the API server reaches it. @default by a Service */
  readonly url?: string;
  /** More flags. @default none */
  readonly flags?: readonly string[];
  /** Added to our own environment. @default nothing */
  readonly env?: Readonly<Record<string, string>>;
}

/** `homeostat convert` as a process of its own. */
export class ConvertProcess {
  readonly port: number;
  readonly healthUrl: string;
  readonly #process: SupervisedProcess;
  #log = '';
  #onText: () => void = () => {};

  private constructor(
    { kubeconfig, namespace, url, flags = [], env = {} }: ConvertProcessOptions,
    [port = 0, health = 0]: readonly number[],
  ) {
    this.port = port;
    this.healthUrl = `http://127.0.0.1:${health}`;
    const [command, ...first] = homeostatCommand();
    const take = (text: string) => {
      this.#log += text;
      this.#onText();
    };
    this.#process = launchNow({
      command,
      args: [
        ...[...first, 'convert', '--kubeconfig', kubeconfig, '--namespace', namespace],
        ...(url === undefined ? [] : ['--webhook-url', url]),
        ...['--webhook-host', '127.0.0.1', '--webhook-port', `${port}`],
        ...['--http', `127.0.0.1:${health}`, ...flags],
      ],
      env,
      onOutput: take,
      onErrors: take,
    });
    void this.#process.ended.then(({ code, signal }) => take(`\nEnded with ${code ?? signal}\n`));
  }

  /** Starts it, and waits until it listens. */
  static async start(options: ConvertProcessOptions): Promise<ConvertProcess> {
    const started = new ConvertProcess(options, await findFreePorts(2));
    await started.logged('The conversion webhook listens');
    return started;
  }

  /** Waits for a text in the log. @throws Error with the log when it ends before */
  async logged(text: string): Promise<void> {
    const limit = AbortSignal.timeout(patienceMs);
    while (!this.#log.includes(text)) {
      if (this.#log.includes('\nEnded with') || limit.aborted)
        throw new Error(`Expected "${text}" in the log of homeostat convert:\n${this.#log}`);
      await new Promise<void>((resolve) => {
        this.#onText = resolve;
        limit.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  /** Sends a review without objects, as the API server does. Returns its response. */
  review(path: string, desiredAPIVersion: string): Promise<unknown> {
    return sendReview(this.port, path, { uid: 'test', desiredAPIVersion, objects: [] });
  }

  /** SIGTERM. Resolves with the exit code when it has ended. */
  async stop(): Promise<number | null> {
    return (await this.#process.stop(patienceMs)).code;
  }

  async kill(): Promise<void> {
    await this.#process.stop(0);
  }
}
