import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RuntimeView } from '../runtime/index.ts';
import type { ReadableMetricRegistry } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import { MetricsPage } from './metrics-page.ts';
import { type Check, type CheckQuery, checkPage, readinessChecks, viewLines } from './readiness.ts';
import { limitConnections, OnePerTurn } from './request-limits.ts';

// An import of "node:http" loads all of its exports, including the WebSocket client: 70 ms and 13 MiB.
const { createServer } = process.getBuiltinModule('node:http');

export interface HealthServerOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly metrics: Pick<ReadableMetricRegistry, 'contentType' | 'expose'>;
  readonly view: () => RuntimeView;
  /** Returns why `/healthz` fails; only a restart of the process helps. @default never fails */
  readonly failure?: () => string | undefined;
  /** Called before the metrics are rendered. */
  readonly observe: () => void;
}

export interface HealthServer {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/healthz` (event loop), `/readyz` and `/readyz/<check>` (see {@link readinessChecks}) and `/metrics` (see
 * {@link MetricsPage}). `?verbose` lists checks and definitions, `?exclude=<check>` skips a check.
 * A connection serves one request, and the event loop accepts one connection per turn. Metrics are sent to one client
 * per turn. So concurrent clients cannot block the process. See {@link limitConnections}.
 * @throws Error of `node:net` when the address is unavailable (`EADDRINUSE`, ...)
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer(createListener(options));
  // Pipelined requests are not served either.
  server.maxRequestsPerSocket = 1;
  limitConnections(server, options.clock);
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  readonly status: number;
  readonly text: string | Buffer;
  /** @default {@link plainText} */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request; undefined: there is no such page. */
type Route = (rest: string, query: CheckQuery) => Answer | undefined | Promise<Answer>;

/** Every answer closes its connection. */
function createListener(options: HealthServerOptions): RequestListener {
  const routes = createRoutes(options);
  return (request, response) => {
    respond(routes, request).then(
      (answer) => send(response, answer),
      () => send(response, { status: 500, text: 'internal error\n' }),
    );
  };
}

async function respond(
  routes: ReadonlyMap<string, Route>,
  { method, url = '/' }: IncomingMessage,
): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return notAllowed;
  // A target can be anything, such as "//": only what is before and after the question mark counts.
  const [path = '', query = ''] = url.split('?', 2);
  const [, page = '', ...rest] = path.split('/');
  const answer = await routes.get(page)?.(rest.join('/'), checkQueryOf(query));
  return answer ?? notFound;
}

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
const notFound: Answer = { status: 404, text: 'not found\n' };
const notAllowed: Answer = {
  status: 405,
  text: 'method not allowed\n',
  headers: { ...plainText, allow: 'GET, HEAD' },
};

/** By the first part of the path. */
function createRoutes(options: HealthServerOptions): ReadonlyMap<string, Route> {
  const { view, failure } = options;
  return new Map<string, Route>([
    [
      'healthz',
      (rest, query) =>
        rest === '' ? checkPage('healthz', healthChecks(failure?.()), query) : undefined,
    ],
    ['readyz', (name, query) => readinessPage(view(), name, query)],
    ['metrics', metricsRoute(options)],
  ]);
}

/** All checks, or the one of that name. */
function readinessPage(view: RuntimeView, name: string, query: CheckQuery): Answer {
  const checks = readinessChecks(view);
  if (name === '') return checkPage('readyz', checks, { ...query, details: viewLines(view) });
  const named = checks.filter((check) => check.name === name);
  if (named.length === 0) return { status: 404, text: 'no such check\n' };
  return checkPage(`readyz/${name}`, named, query);
}

function metricsRoute({ metrics, observe, clock }: HealthServerOptions): Route {
  const page = new MetricsPage({
    clock,
    render: () => {
      observe();
      return metrics.expose();
    },
  });
  const turns = new OnePerTurn();
  const headers = { 'content-type': metrics.contentType };
  const read = async () => {
    const text = await page.read();
    await turns.next();
    return { status: 200, text, headers };
  };
  return (rest) => (rest === '' ? read() : undefined);
}

function healthChecks(failure: string | undefined): readonly Check[] {
  return [
    // A response proves that the event loop runs.
    { name: 'ping' },
    { name: 'leader-election', ...(failure !== undefined && { failure }) },
  ];
}

function checkQueryOf(query: string): CheckQuery {
  const parameters = new URLSearchParams(query);
  return { isVerbose: parameters.has('verbose'), excluded: parameters.getAll('exclude') };
}

function send(response: ServerResponse, { status, text, headers = plainText }: Answer): void {
  // The connection may have been closed by the connection limit meanwhile.
  if (response.destroyed) return;
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, { ...headers, 'content-length': length, connection: 'close' });
  // Node omits the body of an answer to HEAD.
  response.end(text);
}

function listen(
  server: Server,
  { host, port }: Pick<HealthServerOptions, 'host' | 'port'>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
