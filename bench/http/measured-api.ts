import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

interface MeasuredApiOptions {
  /** Time before each answer, in ms. Infinity: it never answers. */
  readonly delayMs: number;
}

/** A JSON API on loopback whose objects their paths name. It remembers when each value arrived. */
export class MeasuredApi {
  readonly #server: Server;
  readonly #delayMs: number;
  readonly #objects = new Map<string, string>();
  /** By path and value, on `performance.now()`. */
  readonly #arrivedMs = new Map<string, number>();
  requests = 0;

  private constructor({ delayMs }: MeasuredApiOptions) {
    this.#delayMs = delayMs;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(options: MeasuredApiOptions): Promise<MeasuredApi> {
    const api = new MeasuredApi(options);
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** When a value arrived, on `performance.now()`. Undefined: not yet. */
  arrivedMs(path: string, value: string): number | undefined {
    return this.#arrivedMs.get(`${path}=${value}`);
  }

  clear(): void {
    this.#objects.clear();
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: path = '' } = request;
    const atMs = performance.now();
    this.requests += 1;
    const body = await text(request);
    if (this.#delayMs === Number.POSITIVE_INFINITY) return;
    await sleep(this.#delayMs);
    if (method === 'PUT') {
      this.#objects.set(path, body);
      const { value } = JSON.parse(body) as { readonly value?: string };
      this.#arrivedMs.set(`${path}=${value}`, atMs);
    }
    if (method === 'DELETE') this.#objects.delete(path);
    const stored = this.#objects.get(path);
    response
      .writeHead(stored === undefined ? 404 : 200, { 'content-type': 'application/json' })
      .end(stored ?? '{}');
  }
}
