import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Clock } from '#util/clock.ts';
import type { LeafCertificate } from '../certificates/certificate.ts';

// An import of "node:https" loads all of its exports, which takes more time and memory.
const { createServer } = process.getBuiltinModule('node:https');

/** Clients of Kubernetes close a connection after 90 s without a request. A server that is faster may close one while a request is on its way. */
const keepAliveMs = 120_000;
/** Running requests have this long after the last connection should have ended. */
const lastRequestMs = 10_000;

/** A response; the body is JSON. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

interface WebhookServerOptions {
  /** Address to listen on. Undefined: all. */
  readonly host: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly certificate: LeafCertificate;
  /** Answers a request. Undefined: its connection is closed. Never rejects. */
  readonly handle: (request: IncomingMessage) => Promise<Answer | undefined>;
}

/** How a server ends. */
export interface DrainTimes {
  /** How long connections are still accepted, until no client is sent here any more. */
  readonly acceptMs: number;
  /** How long connections without a request are left open after that: their clients close them, or use them once more. */
  readonly idleMs: number;
}

/** An HTTPS server whose certificate can be replaced, and that ends without a failed request. HTTP/1.1, as the API server asks for it. */
export class WebhookServer {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #open = new Set<Socket>();
  #running = 0;
  #isEnding = false;
  #onQuiet: () => void = () => {};

  private constructor({ certificate, handle, clock }: WebhookServerOptions) {
    this.#clock = clock;
    const settings = { minVersion: 'TLSv1.2' as const, keepAliveTimeout: keepAliveMs };
    this.#server = createServer({ ...settings, ...tlsOf(certificate) }, (request, response) => {
      void this.#serve(request, response, handle);
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => {
        this.#open.delete(socket);
        this.#check();
      });
    });
  }

  /** @throws Error of `node:net` when the address is unavailable */
  static async start(options: WebhookServerOptions): Promise<WebhookServer> {
    const server = new WebhookServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen({ port: options.port, host: options.host }, resolve);
    });
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many requests have no response yet. */
  get running(): number {
    return this.#running;
  }

  /** For new connections; open ones stay. */
  setCertificate(certificate: LeafCertificate): void {
    this.#server.setSecureContext(tlsOf(certificate));
  }

  /**
   * Ends the server. Each response ends its connection first, while new connections are accepted; then the listener is closed; then
   * connections are left to their clients for a while. Closing an idle connection could hit a request that is on its way, which clients
   * do not repeat.
   */
  async end({ acceptMs, idleMs }: DrainTimes): Promise<void> {
    this.#isEnding = true;
    if (acceptMs > 0) await this.#after(acceptMs);
    // Not the method of HTTP servers, which closes idle connections.
    NetServer.prototype.close.call(this.#server);
    await this.#quiet(idleMs, () => this.#open.size === 0);
    this.#server.closeIdleConnections();
    await this.#quiet(lastRequestMs, () => this.#running === 0);
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    handle: WebhookServerOptions['handle'],
  ): Promise<void> {
    this.#running += 1;
    response.once('close', () => {
      this.#running -= 1;
      this.#check();
    });
    const answer = await handle(request);
    if (answer === undefined) {
      response.destroy();
      return;
    }
    // The text is encoded once.
    const bytes = Buffer.from(answer.body);
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': bytes.length,
      ...(this.#isEnding && { connection: 'close' }),
    });
    response.end(bytes);
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }

  /** Resolves when it is so, or after a time. */
  async #quiet(ms: number, isSo: () => boolean): Promise<void> {
    if (isSo() || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#onQuiet = () => {
        if (!isSo()) return;
        cancel();
        resolve();
      };
    });
    this.#onQuiet = () => {};
  }

  #check(): void {
    this.#onQuiet();
  }
}

function tlsOf({ pem, key }: LeafCertificate): { readonly cert: string; readonly key: string } {
  return { cert: pem, key };
}
