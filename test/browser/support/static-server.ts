import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';

export interface StaticFile {
  readonly name: string;
  readonly content: Uint8Array;
}

export interface StaticServer {
  /** Address of the folder, below a sub-path. */
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
};

/** Any static web server: it knows nothing but files. */
export async function serveFiles(
  files: readonly StaticFile[],
  subPath: string,
): Promise<StaticServer> {
  const byPath = new Map(files.map((file) => [`${subPath}${file.name}`, file]));
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const file = byPath.get(url === subPath ? `${subPath}index.html` : url);
    if (file === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, { 'content-type': types[extname(file.name)] ?? 'text/plain' })
        .end(file.content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${subPath}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
