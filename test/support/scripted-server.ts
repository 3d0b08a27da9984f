import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as the server got it. */
export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The incoming message itself, for its socket. */
  readonly message: IncomingMessage;
}

/** What to answer: a status with a JSON body (text as it is), or nothing, when the script does it itself. */
export type ScriptedAnswer =
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | undefined;

export type Script = (
  request: ReceivedRequest,
  response: ServerResponse,
) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A local HTTP or HTTPS server whose answers a test decides. */
export class ScriptedServer {
  readonly requests: ReceivedRequest[] = [];
  /** Connections that were ever opened. */
  connectionCount = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #scheme: 'http' | 'https';

  private constructor(server: Server, scheme: 'http' | 'https') {
    this.#server = server;
    this.#scheme = scheme;
    server.on(scheme === 'https' ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.connectionCount += 1;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => this.#sockets.delete(socket));
    });
  }

  /** Starts one on a free port of loopback. With `tls` it speaks HTTPS. */
  static async start(script: Script, tls?: ServerOptions): Promise<ScriptedServer> {
    const answer = (message: IncomingMessage, response: ServerResponse) => {
      void server.#answer(script, message, response);
    };
    const server =
      tls === undefined
        ? new ScriptedServer(createServer(answer), 'http')
        : new ScriptedServer(createTlsServer(tls, answer), 'https');
    // A client that leaves a connection open is to be seen.
    server.#server.keepAliveTimeout = 0;
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#scheme}://127.0.0.1:${port}`;
  }

  /** Connections that are open now. */
  get openSockets(): number {
    return this.#sockets.size;
  }

  /** Safe to call twice. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(script: Script, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(message).catch(() => undefined);
    // The client may give it up when half of it is here: such a request never came.
    if (body === undefined) return;
    const { method = '', url = '', headers } = message;
    const request: ReceivedRequest = { method, path: url, headers, body, message };
    this.requests.push(request);
    const answer = await script(request, response);
    if (answer === undefined) return;
    const { body: reported } = answer;
    const isText = typeof reported === 'string';
    response.writeHead(answer.status, {
      'content-type': isText ? 'text/plain' : 'application/json',
      ...answer.headers,
    });
    response.end(isText ? reported : reported === undefined ? undefined : JSON.stringify(reported));
  }
}
