import type { HomeostatProcess } from '../support/homeostat-process.ts';

/** For the environment of a process that is to be probed. */
export const probeEnvironment = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

interface Reply {
  readonly id?: number;
  readonly result?: {
    readonly result?: { readonly value?: unknown };
    readonly exceptionDetails?: { readonly text: string };
  };
}

/** Looks into a running process through its inspector, without any help from the product. */
export class ProcessProbe {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<
    number,
    { readonly resolve: (reply: Reply) => void; readonly reject: (error: Error) => void }
  >();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data))));
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The process has ended'));
    });
  }

  /** @throws Error when the process was not started with {@link probeEnvironment}. */
  static async attach(homeostat: HomeostatProcess): Promise<ProcessProbe> {
    // The program that started the process may have become it, and have had an inspector before.
    const address = homeostat.errors.match(/ws:\/\/\S+/g)?.at(-1);
    if (address === undefined) throw new Error(`No inspector in: ${homeostat.errors}`);
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      const rejected = () => reject(new Error(`No inspector at ${address}`));
      socket.addEventListener('error', rejected, { once: true });
    });
    return new ProcessProbe(socket);
  }

  /** Evaluates JavaScript between two turns of the process's event loop. */
  async evaluate(expression: string): Promise<unknown> {
    const { result } = await this.#send('Runtime.evaluate', { expression, returnByValue: true });
    if (result?.exceptionDetails !== undefined) throw new Error(result.exceptionDetails.text);
    return result?.result?.value;
  }

  /** Bytes in use on the heap after everything that can be collected was. */
  async heapBytes(): Promise<number> {
    await this.#send('HeapProfiler.collectGarbage');
    await this.#send('HeapProfiler.collectGarbage');
    return Number(await this.evaluate('process.memoryUsage().heapUsed'));
  }

  /** The wall clock of the process is wrong by so much; its monotonic one does not. */
  async shiftClock(ms: number): Promise<void> {
    await this.evaluate(`{
      const Real = globalThis.RealDate ??= Date;
      globalThis.Date = class extends Real {
        constructor(...parts) { parts.length === 0 ? super(Real.now() + ${ms}) : super(...parts); }
        static now() { return Real.now() + ${ms}; }
      };
    }`);
  }

  /** Its event loop stands still for so long; resolves when it turns again. */
  async stall(ms: number): Promise<void> {
    await this.evaluate(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms})`);
  }

  close(): void {
    this.#socket.close();
  }

  #send(method: string, params: object = {}): Promise<Reply> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #take(reply: Reply): void {
    if (reply.id === undefined) return;
    this.#waiting.get(reply.id)?.resolve(reply);
    this.#waiting.delete(reply.id);
  }
}
