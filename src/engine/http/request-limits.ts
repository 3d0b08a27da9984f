import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#util/clock.ts';

/** Maximum open connections. The probes of a kubelet and two Prometheus servers need five. */
export const maxConnections = 256;
/** Maximum lifetime of a connection. Equals the default scrape timeout of Prometheus. */
export const longestMs = 10_000;

/**
 * Limits the number and lifetime of connections. A connection above the limit closes the oldest one, not the new one:
 * a kubelet that just connected is served within a few turns, while the oldest client is idle or slow.
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

/** Resolves one waiting call per turn of the event loop, so that many concurrent calls do not block other work. */
export class OnePerTurn {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in its own turn of the event loop. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#defer();
    });
  }

  #defer(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#defer();
    });
  }
}
