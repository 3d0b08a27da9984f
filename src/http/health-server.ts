import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import type { DefinitionView, RuntimeView } from '../runtime/index.ts';
import type { ReadableMetricRegistry } from '../telemetry/index.ts';

export interface HealthServerOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly metrics: ReadableMetricRegistry;
  readonly view: () => RuntimeView;
  /** Called before each scrape. */
  readonly observe: () => void;
}

export interface HealthServer {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/healthz` (the event loop turns), `/readyz` (the API server answers and every definition runs or is refused; `?verbose` lists them with what stands in their way) and `/metrics`.
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

function createApp({ metrics, view, observe }: HealthServerOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.get('/healthz', (_request, response) => {
    response.type('text/plain').send('ok\n');
  });
  app.get('/readyz', (request, response) => {
    const { isReady, isReachable, definitions } = view();
    const lines = [`[${isReachable ? '+' : '-'}]api-server\n`, ...definitions.map(lineOf)];
    const verdict = isReady ? 'ok\n' : 'not ready\n';
    const isVerbose = request.query.verbose !== undefined;
    response
      .status(isReady ? 200 : 503)
      .type('text/plain')
      .send(isVerbose ? lines.join('') + verdict : verdict);
  });
  app.get('/metrics', async (_request, response) => {
    observe();
    response.set('content-type', metrics.contentType).send(await metrics.expose());
  });
  return app;
}

/** `[+]` runs, `[!]` has something in its way that is its own (and readiness does not depend on), `[-]` holds readiness back. */
function lineOf({ name, state, problems }: DefinitionView): string {
  const why = 'message' in state ? [state.message] : problems;
  const mark = markOf(state.kind, why.length > 0);
  return `[${mark}]${name} ${[state.kind, ...why].join(': ')}\n`;
}

function markOf(state: DefinitionView['state']['kind'], isHindered: boolean): '+' | '!' | '-' {
  if (state !== 'running' && state !== 'refused') return '-';
  return isHindered ? '!' : '+';
}

function listen(app: Express, { host, port }: HealthServerOptions): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = app.listen(port, host, (error?: Error) =>
      error ? reject(error) : resolve(server),
    );
  });
}
