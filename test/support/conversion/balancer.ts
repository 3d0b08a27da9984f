import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A Service on loopback: forwards new connections to one of its endpoints in turn. Open ones stay where they are. */
export class Balancer {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #endpoints: readonly number[] = [];
  #next = 0;

  constructor() {
    this.#server = createServer((client) => this.#forward(client));
  }

  /** `https://127.0.0.1:12345` */
  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** The ports to which new connections lead. */
  setEndpoints(ports: readonly number[]): void {
    this.#endpoints = ports;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #forward(client: Socket): void {
    this.#next += 1;
    const port = this.#endpoints[this.#next % this.#endpoints.length];
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = connect({ port, host: '127.0.0.1', allowHalfOpen: false });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#open.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#open.delete(from);
        to.end();
      });
    }
  }
}
