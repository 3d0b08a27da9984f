import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';
import type { ConsoleBackend } from '#web';
import { loadAssets } from './assets.ts';

// An import of "node:http" loads all of its exports, including the WebSocket client: 70 ms and 13 MiB.
const { createServer } = process.getBuiltinModule('node:http');

export interface ConsoleServerOptions {
  readonly backend: ConsoleBackend;
  readonly clock: Clock;
  readonly random: Random;
  /** @default 0: any free port */
  readonly port?: number;
}

export interface ConsoleServer {
  /** `http://127.0.0.1:PORT/SECRET/`. Its path grants access. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the console on 127.0.0.1, below a path that cannot be guessed. The framework and the files are loaded with the first request.
 * @throws Error of `node:net` when the port is not available
 */
export async function startConsoleServer(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const basePath = `/${options.random.text(32, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  let app: Promise<RequestListener> | undefined;
  const server = createServer((request, response) => {
    app ??= import('./console-app.ts').then(({ createConsoleApp }) =>
      createConsoleApp({ ...options, basePath, loadAssets }),
    );
    app.then(
      (handle) => handle(request, response),
      (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${basePath}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
