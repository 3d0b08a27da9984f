import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type Request, type Response } from 'express';
import type { RuntimeView } from '../runtime/index.ts';
import type { ReadableMetricRegistry } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import { MetricsPage } from './metrics-page.ts';
import {
  type Check,
  type CheckPage,
  type CheckQuery,
  checkPage,
  readinessChecks,
  viewLines,
} from './readiness.ts';
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
  const server = createServer(createApp(options));
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

function createApp({ metrics, view, observe, failure, clock }: HealthServerOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  // An ETag would be computed from the whole body of each response.
  app.disable('etag');
  app.use((_request, response, next) => {
    response.set('connection', 'close');
    next();
  });
  app.get('/healthz', (request, response) => {
    send(response, checkPage('healthz', healthChecks(failure?.()), queryOf(request)));
  });
  app.get('/readyz', (request, response) => {
    const now = view();
    const details = viewLines(now);
    send(response, checkPage('readyz', readinessChecks(now), { ...queryOf(request), details }));
  });
  app.get('/readyz/:check', (request, response) => {
    const { check } = request.params;
    const checks = readinessChecks(view()).filter(({ name }) => name === check);
    if (checks.length === 0) response.status(404).type('text/plain').send('no such check\n');
    else send(response, checkPage(`readyz/${check}`, checks, queryOf(request)));
  });
  const page = new MetricsPage({
    clock,
    render: () => {
      observe();
      return metrics.expose();
    },
  });
  const turns = new OnePerTurn();
  app.get('/metrics', async (_request, response) => {
    const text = await page.read();
    await turns.next();
    // The connection may have been closed by the connection limit meanwhile.
    if (!response.destroyed) response.set('content-type', metrics.contentType).send(text);
  });
  return app;
}

function healthChecks(failure: string | undefined): readonly Check[] {
  return [
    // A response proves that the event loop runs.
    { name: 'ping' },
    { name: 'leader-election', ...(failure !== undefined && { failure }) },
  ];
}

function queryOf({ query }: Request): CheckQuery {
  const { verbose, exclude = [] } = query;
  const excluded = (Array.isArray(exclude) ? exclude : [exclude]).map(String);
  return { isVerbose: verbose !== undefined, excluded };
}

function send(response: Response, { status, text }: CheckPage): void {
  response.status(status).type('text/plain').set('cache-control', 'no-store').send(text);
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
