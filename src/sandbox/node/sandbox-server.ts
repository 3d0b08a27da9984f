import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type ApiAnswer, type ApiRequest, type Sandbox, tooLargeAnswer } from '../index.ts';
import { WritePace } from './write-pace.ts';

export interface SandboxServerOptions {
  readonly sandbox: Sandbox;
  /** The path before all paths: whoever knows it may do everything. Not guessable: at least 16 random characters. */
  readonly basePath: string;
  /** @default 0: any free port */
  readonly port?: number;
  /** Bodies with more bytes are refused. @default 3 MiB */
  readonly maxBodyBytes?: number;
  /** Who has not sent a whole request by then is cut off, in ms. @default 30_000 */
  readonly requestTimeoutMs?: number;
  /** Who takes nothing of an answer for so long is cut off, in ms. @default 60_000 */
  readonly stallTimeoutMs?: number;
}

/** A sandbox that listens. */
export interface SandboxServer {
  /** `http://127.0.0.1:PORT/BASE`. */
  readonly url: string;
  /** Ends all connections, watches too. */
  stop(): Promise<void>;
}

/**
 * Serves a sandbox over HTTP on 127.0.0.1. Requests of web pages (with an `Origin`) and requests that do
 * not know the base path are refused.
 */
export async function startSandboxServer(options: SandboxServerOptions): Promise<SandboxServer> {
  const { port = 0, requestTimeoutMs = 30_000, ...rest } = options;
  const shared = {
    maxBodyBytes: 3 * 1024 * 1024,
    stallTimeoutMs: 60_000,
    ...rest,
    pace: new WritePace(() => performance.now()),
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
  readonly pace: WritePace;
}

async function serve(exchange: Exchange): Promise<void> {
  const { outgoing } = exchange;
  try {
    await answer(exchange);
  } catch {
    // The client went away in the middle, takes nothing, or its body was cut off: there is nobody to tell.
    outgoing.destroy();
  }
}

async function answer(exchange: Exchange) {
  const { sandbox, basePath, maxBodyBytes, incoming, outgoing } = exchange;
  const { method = 'GET', url = '/', headers } = incoming;
  if (headers.origin !== undefined) return refuse(outgoing, 403);
  if (!url.startsWith(`${basePath}/`)) return refuse(outgoing, 404);
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

function refuse(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { connection: 'close' }).end();
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
  { outgoing, pace, stallTimeoutMs }: Pick<Exchange, 'outgoing' | 'pace' | 'stallTimeoutMs'>,
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
  // A watch that nobody reads any more ends at once, not with its next event.
  outgoing.once('close', () => void lines.return?.());
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    if (!outgoing.write(next.value) && !outgoing.destroyed) await unlessStalled('drain');
    // What comes with the next few requests goes out as one: of a burst, each watcher would else cost a write for each change.
    const pauseMs = pace.pauseMs();
    await (pauseMs === 0 ? setImmediate() : setTimeout(pauseMs));
  }
  outgoing.end();
}
