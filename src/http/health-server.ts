import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type Request, type Response } from 'express';
import type { RuntimeView } from '../runtime/index.ts';
import type { ReadableMetricRegistry } from '../telemetry/index.ts';
import { type CheckPage, type CheckQuery, checkPage } from './check-page.ts';
import { type Check, readinessChecks } from './readiness.ts';
import { viewLines } from './view-lines.ts';

export interface HealthServerOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly metrics: ReadableMetricRegistry;
  readonly view: () => RuntimeView;
  /** Why `/healthz` is to fail: only a new process mends it. @default never */
  readonly failure?: () => string | undefined;
  /** Called before each scrape. */
  readonly observe: () => void;
}

export interface HealthServer {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/healthz` (the event loop turns), `/readyz` with `/readyz/<check>` (see {@link readinessChecks}; `?verbose` lists checks and
 * definitions, `?exclude=<check>` leaves one out) and `/metrics`.
 * @throws Error of `node:net` when the address cannot be had (`EADDRINUSE`, ...)
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = await listen(createApp(options), options);
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

function createApp({ metrics, view, observe, failure }: HealthServerOptions): Express {
  const app = express();
  app.disable('x-powered-by');
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
  app.get('/metrics', async (_request, response) => {
    observe();
    response.set('content-type', metrics.contentType).send(await metrics.expose());
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

function listen(app: Express, { host, port }: HealthServerOptions): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = app.listen(port, host, (error?: Error) =>
      error ? reject(error) : resolve(server),
    );
  });
}
