import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { hostProblem } from '#util/own-host.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  forbiddenAnswer,
  type Sandbox,
  tooLargeAnswer,
} from '../index.ts';

// An import of "node:http" evaluates all of its exports, one of which loads the WebSocket client: 70 ms and 13 MiB.
const { createServer } = process.getBuiltinModule('node:http');

export interface SandboxServerOptions {
  readonly sandbox: Sandbox;
  /** The prefix of all paths. It grants full access, so it must not be guessable: at least 16 random characters. */
  readonly basePath: string;
  /** @default 0: any free port */
  readonly port?: number;
  /** Larger bodies are rejected. @default 3 MiB */
  readonly maxBodyBytes?: number;
  /** The time to receive a whole request before the connection is closed, in ms. @default 30_000 */
  readonly requestTimeoutMs?: number;
  /** The time without progress in sending an answer before the connection is closed, in ms. @default 60_000 */
  readonly stallTimeoutMs?: number;
}

/** A sandbox that serves HTTP. */
export interface SandboxServer {
  /** `http://127.0.0.1:PORT/BASE`. */
  readonly url: string;
  /** Closes all connections, including watches. */
  stop(): Promise<void>;
}

/**
 * Serves a sandbox over HTTP on 127.0.0.1. Rejects requests of web pages: those with an `Origin`, and those to a host name that may be one
 * of the page, see `hostProblem`. Rejects requests without the base path.
 */
export async function startSandboxServer(options: SandboxServerOptions): Promise<SandboxServer> {
  const { port = 0, requestTimeoutMs = 30_000, ...rest } = options;
  const shared = {
    maxBodyBytes: 3 * 1024 * 1024,
    stallTimeoutMs: 60_000,
    ...rest,
    pace: new WriteThrottle(() => performance.now()),
  };
  const limits = {
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(requestTimeoutMs, 5_000),
  };
  const server = createServer(limits, (incoming, outgoing) => {
    void serve({ ...shared, incoming, outgoing });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  return {
    url: `http://127.0.0.1:${address.port}${options.basePath}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Exchange {
  readonly sandbox: Sandbox;
  readonly basePath: string;
  readonly maxBodyBytes: number;
  readonly stallTimeoutMs: number;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly pace: WriteThrottle;
}

async function serve(exchange: Exchange): Promise<void> {
  const { outgoing } = exchange;
  try {
    await answer(exchange);
  } catch {
    // The client disconnected or stalled, or its body was cut off: no answer can be sent.
    outgoing.destroy();
  }
}

async function answer(exchange: Exchange) {
  const { sandbox, basePath, maxBodyBytes, incoming, outgoing } = exchange;
  const { method = 'GET', url = '/', headers } = incoming;
  const problem =
    headers.origin === undefined
      ? hostProblem(headers.host ?? '')
      : 'A request with "Origin" is not permitted: it may be one of a web page';
  if (problem !== undefined) {
    outgoing.setHeader('connection', 'close');
    return send(exchange, forbiddenAnswer(problem));
  }
  if (!url.startsWith(`${basePath}/`)) {
    outgoing.writeHead(404, { connection: 'close' }).end();
    return;
  }
  const body = await readBody(incoming, maxBodyBytes);
  if (body === undefined) {
    outgoing.setHeader('connection', 'close');
    return send(exchange, tooLargeAnswer(maxBodyBytes));
  }
  const request: ApiRequest = {
    method,
    path: url.slice(basePath.length),
    headers: plainHeaders(incoming),
    ...(isText(headers) ? { body: body.toString('utf8') } : { body: '', bytes: body }),
  };
  await send(exchange, sandbox.handle(request));
}

function isText({ 'content-type': type = '' }: IncomingMessage['headers']): boolean {
  return !type.startsWith('application/vnd.kubernetes.protobuf');
}

/** Undefined = too large. */
async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function plainHeaders({ headers }: IncomingMessage): ApiRequest['headers'] {
  const plain: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers))
    plain[name] = Array.isArray(value) ? value.join(', ') : value;
  return plain;
}

async function send(
  {
    outgoing,
    pace: throttle,
    stallTimeoutMs,
  }: Pick<Exchange, 'outgoing' | 'pace' | 'stallTimeoutMs'>,
  { status, headers, body }: ApiAnswer,
): Promise<void> {
  const unlessStalled = (event: 'drain' | 'finish') =>
    once(outgoing, event, { signal: AbortSignal.timeout(stallTimeoutMs) });
  if (typeof body === 'string') {
    outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    outgoing.end(body);
    if (outgoing.writableLength > 0) await unlessStalled('finish');
    return;
  }
  outgoing.writeHead(status, headers);
  outgoing.flushHeaders();
  const lines = body[Symbol.asyncIterator]();
  // Ends the watch as soon as its client disconnects, not with the next event.
  outgoing.once('close', () => void lines.return?.());
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    if (!outgoing.write(next.value) && !outgoing.destroyed) await unlessStalled('drain');
    // Batches the changes of the next few requests: otherwise a burst costs every watcher one write per change.
    const pauseMs = throttle.pauseMs();
    await (pauseMs === 0 ? setImmediate() : setTimeout(pauseMs));
  }
  outgoing.end();
}

/** The number of writes per window that are not delayed. */
const unthrottledWrites = 32;
const windowMs = 10;

/**
 * Limits the rate of writes to watches. Few writes are sent at once. When many watchers receive many changes, the changes of a
 * moment are sent together: a write to a socket costs as much as a change itself.
 */
export class WriteThrottle {
  readonly #nowMs: () => number;
  #windowStartMs = 0;
  #writes = 0;
  #writesBefore = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Call after each write: returns how long its stream must wait before the next one, in ms. 0 = until other tasks have run. */
  pauseMs(): number {
    const now = this.#nowMs();
    const windows = Math.floor((now - this.#windowStartMs) / windowMs);
    if (windows > 0) {
      this.#writesBefore = windows === 1 ? this.#writes : 0;
      this.#writes = 0;
      this.#windowStartMs += windows * windowMs;
    }
    this.#writes++;
    return Math.max(this.#writes, this.#writesBefore) > unthrottledWrites ? windowMs : 0;
  }
}
