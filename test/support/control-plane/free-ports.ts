import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Finds loopback ports on which no process listens. They lie below the range that systems hand out to outgoing
 * connections, so that a port stays ours while its server is down, and at random, so that planes
 * started at the same time do not meet.
 */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries === 100) throw new Error(`Expected ${count} free ports, found ${ports.size}`);
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server: Server = createServer();
  try {
    const listening = once(server, 'listening');
    server.listen(port, '127.0.0.1');
    await listening;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  } finally {
    server.close();
  }
}
