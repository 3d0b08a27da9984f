import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An address before servers: which of them responds there can be changed. */
export interface SwitchedAddress {
  readonly port: number;
  /** Connections go to this server from now on. @param cuts default true: those that are open end */
  switchTo(server: string, cuts?: boolean): void;
  stop(): Promise<void>;
}

/** Forwards TCP connections. */
export async function startSwitchedAddress(first: string): Promise<SwitchedAddress> {
  let target = new URL(first);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    switchTo(next, cuts = true) {
      target = new URL(next);
      if (cuts) cut();
    },
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
