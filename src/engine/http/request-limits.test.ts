import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { limitConnections, longestMs, maxConnections } from './request-limits.ts';

interface Client {
  readonly socket: Socket;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

/** Makes a client, which is closed in the end. */
type Connect = () => Promise<Client>;

async function withServer(use: (connect: Connect, clock: FakeClock) => Promise<void>) {
  const clock = new FakeClock();
  const server = createServer((_request, response) => response.end('answer'));
  limitConnections(server, clock);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clients: Client[] = [];
  try {
    await use(async () => {
      const client = await connected(server);
      clients.push(client);
      return client;
    }, clock);
  } finally {
    for (const { socket } of clients) socket.destroy();
    server.closeAllConnections();
    server.close();
  }
}

async function connected(server: Server): Promise<Client> {
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection');
  const socket = connect(port, '127.0.0.1');
  // What it has sent may be unread when the server closes the connection.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await accepted;
  return { socket, closed };
}

async function answerTo({ socket }: Client): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  return text(socket);
}

describe('http/limit-connections', () => {
  test('one connection too many closes the oldest, and is answered', async () => {
    await withServer(async (connect) => {
      const oldest = await connect();
      const second = await connect();
      for (let count = 2; count < maxConnections; count++) await connect();
      const newest = await connect();
      oldest.socket.resume();
      await oldest.closed;
      assert.match(await answerTo(newest), /answer$/);
      assert.match(await answerTo(second), /answer$/);
    });
  });

  test('a connection that was closed makes room', async () => {
    await withServer(async (connect) => {
      const oldest = await connect();
      for (let count = 1; count <= maxConnections; count++) await answerTo(await connect());
      assert.match(await answerTo(oldest), /answer$/);
    });
  });

  for (const [what, sent] of [
    ['sends nothing', ''],
    ['sends half a request', 'GET / HTTP/1.1\r\nhost: x\r\n'],
    ['keeps its connection after an answer', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
  ] as const)
    test(`a client that ${what} is disconnected after a while`, async () => {
      await withServer(async (connect, clock) => {
        const client = await connect();
        client.socket.resume().write(sent);
        await clock.advance(longestMs);
        await client.closed;
        assert.equal(clock.pending, 0);
      });
    });
});
