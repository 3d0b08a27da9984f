import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SimulatedApi, type SimulatedApiSpec } from '#http-objects/simulated/simulated-api.ts';
import { createSystemClock } from '#util/clock.ts';

/** A request as the server received it. */
export interface ApiServerRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface ApiServerOptions extends Omit<SimulatedApiSpec, 'url'> {
  /** Called with every request: on a plane with virtual time, something happens. @default nothing */
  readonly note?: () => void;
}

/** A local HTTP server in front of a simulated API, which can be stopped and started again on its port. */
export class ApiServer {
  readonly api: SimulatedApi;
  readonly requests: ApiServerRequest[] = [];
  /** The only `Authorization` that is accepted. Undefined: any. */
  authorization: string | undefined;
  /** Cuts the connection after the next request with this method had its effect. */
  losesAnswersOf: string | undefined;
  /** Where every request is redirected. */
  redirectsTo: string | undefined;
  readonly #note: () => void;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  private constructor({ note = () => {}, ...spec }: ApiServerOptions) {
    this.#note = note;
    this.api = new SimulatedApi({
      spec: { ...spec, url: 'http://simulated' },
      clock: createSystemClock(),
    });
  }

  static async start(options: ApiServerOptions): Promise<ApiServer> {
    const server = new ApiServer(options);
    await server.start();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The objects of a collection, by key. */
  objects(path: string): ReadonlyMap<string, object> {
    return this.api.collection(path).objects;
  }

  /** Requests with a method. */
  count(...methods: readonly string[]): number {
    return this.requests.filter(({ method }) => methods.includes(method)).length;
  }

  /** Listens again, on the same port. */
  async start(): Promise<void> {
    const server = createServer((message, response) => void this.#answer(message, response));
    server.on('connection', (socket) => {
      this.#note();
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Accepts no connection, until it is started again. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = message;
    const body = await text(message);
    this.#note();
    this.requests.push({ method, path, headers, body });
    if (this.authorization !== undefined && headers.authorization !== this.authorization) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    if (this.redirectsTo !== undefined) {
      response.writeHead(302, { location: this.redirectsTo }).end();
      return;
    }
    const answer = await this.api.send(
      {
        ...{ method, url: `http://simulated${path}`, body, namespace: '', tls: {} },
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, String(value)]),
        ),
        ...{ timeoutMs: 1_000, maxBytes: 1_000_000 },
      },
      new AbortController().signal,
    );
    this.#note();
    if (this.losesAnswersOf === method) {
      this.losesAnswersOf = undefined;
      message.socket.destroy();
      return;
    }
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }
}
