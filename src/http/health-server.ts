import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type Request, type Response } from 'express';
import type { RuntimeView } from '../runtime/index.ts';
import type { ReadableMetricRegistry } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import { type CheckPage, type CheckQuery, checkPage } from './check-page.ts';
import { limitConnections } from './limit-connections.ts';
import { MetricsPage } from './metrics-page.ts';
import { OnePerTurn } from './one-per-turn.ts';
import { type Check, readinessChecks } from './readiness.ts';
import { viewLines } from './view-lines.ts';

export interface HealthServerOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly metrics: Pick<ReadableMetricRegistry, 'contentType' | 'expose'>;
  readonly view: () => RuntimeView;
  /** Why `/healthz` is to fail: only a new process mends it. @default never */
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
 * Serves `/healthz` (the event loop turns), `/readyz` with `/readyz/<check>` (see {@link readinessChecks}; `?verbose` lists checks and
 * definitions, `?exclude=<check>` leaves one out) and `/metrics` (see {@link MetricsPage}). A connection gets one answer: clients that ask
 * without a pause must connect for each, and the event loop accepts one connection a turn; of the metrics one answer is sent a turn, so
 * that those who ask at the same time do not hold up the rest. See {@link limitConnections}.
 * @throws Error of `node:net` when the address cannot be had (`EADDRINUSE`, ...)
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer(createApp(options));
  // Requests that are sent without waiting for the first answer are not served either.
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
  // It would be computed from the whole text for each answer.
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
    // Connections that are too many or too old are closed meanwhile.
    if (!response.destroyed) response.set('content-type', metrics.contentType).send(text);
  });
  return app;
}

function healthChecks(failure: string | undefined): readonly Check[] {
  return [
    // That it answers at all is the check: the event loop turns.
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
