import { createProgram } from '#cli/program.ts';
import { createLogger } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import type { RuntimeDoor, SandboxPlane } from './control-plane/index.ts';
import type { RuntimeOptions } from './homeostat-runtime.ts';
import { LoggedRuntime } from './logged-runtime.ts';

export interface InProcessOptions extends RuntimeOptions {
  readonly plane: SandboxPlane;
  /** Whose rights and whose requests they are. */
  readonly user: string;
}

/**
 * `homeostat run` within this process, on the time of a sandbox. It is killed by cutting its connections: nothing that it sends after
 * that arrives.
 */
export class InProcessHomeostat extends LoggedRuntime {
  readonly pid = undefined;
  readonly clock: Clock;
  readonly #stopper = new AbortController();
  readonly #exit = Promise.withResolvers<number | null>();
  readonly #door: Promise<RuntimeDoor>;
  readonly #gone: Promise<void>;

  constructor({ plane, user, ...options }: InProcessOptions) {
    super(options);
    this.clock = plane.time.clock;
    this.#door = plane.openDoor(user);
    this.#gone = this.#run(plane).finally(() => plane.time.note());
  }

  async #run(plane: SandboxPlane): Promise<void> {
    const { kubeconfig } = await this.#door;
    const write = (line: string) => {
      plane.time.note();
      this.log.take(line);
    };
    const fail = (text: string) => {
      this.log.errors += `${text}\n`;
    };
    const program = createProgram({
      output: { print: fail, error: fail, hasColor: false, isTerminal: false },
      signal: this.#stopper.signal,
      exit: (code) => this.#exit.resolve(code),
      environment: {
        clock: plane.time.clock,
        random: createSystemRandom(),
        createLogger: (level) => createLogger({ level, destination: { write } }),
        exitNow: () => void this.#end(1),
        limitHeapGrowth: () => undefined,
      },
    });
    for (const command of [program, ...program.commands]) command.exitOverride();
    try {
      await program.parseAsync(this.folder.arguments(kubeconfig), { from: 'user' });
    } catch (error) {
      fail(`homeostat: ${error instanceof Error ? error.message : String(error)}`);
      this.#exit.resolve(2);
    }
    const code = await this.#exit.promise;
    this.log.end(`homeostat ended with ${code ?? 'SIGKILL'}`);
    await this.#cut();
  }

  ended(): Promise<number | null> {
    return this.#exit.promise;
  }

  untilGone(): Promise<void> {
    return this.#gone;
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    if (signal === 'SIGKILL') await this.#end(null);
    this.#stopper.abort(new Error(`Stopped by ${signal}`));
    const code = await this.#exit.promise;
    this.folder.clear();
    return code;
  }

  /** As if the process were gone. */
  async #end(code: number | null): Promise<void> {
    await this.#cut();
    this.#exit.resolve(code);
    this.#stopper.abort(new Error('The process has ended'));
  }

  async #cut(): Promise<void> {
    await (await this.#door).cut();
  }
}
