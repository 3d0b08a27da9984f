import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../util/clock.ts';

/** Open connections. The probes of a kubelet and two Prometheus servers need five. */
export const maxConnections = 256;
/** A connection is closed after this time, whatever it does or waits for. Prometheus waits for an answer as long, by default. */
export const longestMs = 10_000;

/**
 * Bounds how many connections a server has open, and for how long. One more closes the oldest, not the new one: a kubelet that has
 * just connected is answered within a few turns of the event loop, of which each accepts one connection, while the oldest sends
 * nothing or reads slowly.
 */
export function limitConnections(server: Server, clock: Clock): void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    const cancel = clock.after(longestMs, () => socket.destroy());
    open.add(socket);
    socket.once('close', () => {
      cancel();
      open.delete(socket);
    });
    const [oldest] = open;
    if (open.size > maxConnections) oldest?.destroy();
  });
}
