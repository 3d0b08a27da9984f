import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HealthAppOptions } from './health-app.ts';
import { limitConnections } from './request-limits.ts';

// An import of "node:http" loads all of its exports, including the WebSocket client: 70 ms and 13 MiB.
const { createServer } = process.getBuiltinModule('node:http');

export interface HealthServerOptions extends Omit<HealthAppOptions, 'isLocal'> {
  /** Address to listen on. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
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
 * On a loopback address, hosts that a web page may have chosen are rejected, see `hostProblem`. Elsewhere there are other names, and
 * who can connect can read without a browser, too.
 * @throws Error of `node:net` when the address is unavailable (`EADDRINUSE`, ...)
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const isLocal = () => isLoopback(server.address() as AddressInfo);
  const server: Server = createServer(createListener(options, isLocal));
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

/** The routes are loaded with the first request: the framework takes more CPU time than the rest of the start. */
function createListener(options: HealthServerOptions, isLocal: () => boolean): RequestListener {
  let app: Promise<RequestListener> | undefined;
  return (request, response) => {
    app ??= import('./health-app.ts').then(({ createHealthApp }) =>
      createHealthApp({ ...options, isLocal: isLocal() }),
    );
    app.then(
      (handle) => handle(request, response),
      (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
    );
  };
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

function isLoopback({ address }: AddressInfo): boolean {
  return address === '::1' || address.startsWith('127.');
}
