import { connect as connectSocket, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { withoutBrackets } from './ip-address.ts';

interface SocketGroupOptions {
  /** Called when a connection is established, before it is used. Rejects when it must not be used. @default every connection may be used */
  readonly verify?: () => Promise<void>;
  /** Resolves names to the permitted addresses. @default as the system does */
  readonly guard?: { readonly lookup: LookupFunction };
}

/** Sockets that can be reset together, kernel send buffers included. */
export class SocketGroup {
  readonly #sockets = new Set<Socket>();
  readonly #options: SocketGroupOptions;
  #isCut = false;

  constructor(options: SocketGroupOptions) {
    this.#options = options;
  }

  /** Like `buildConnector` of undici; its sockets belong to the group. */
  connector(options: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector(options);
    return (target, onEnd) => {
      const onConnected = this.#verified(onEnd);
      if (this.#isCut) return onConnected(new Error('The connections were reset'), null);
      if (target.protocol !== 'https:') {
        connect(target, (...[error, socket]) => {
          if (error !== null) return onConnected(error, null);
          this.#add(socket);
          onConnected(null, socket);
        });
        return;
      }
      // A TLS socket cannot be reset, only the TCP socket below it.
      const { hostname: host, port } = target;
      const { guard } = this.#options;
      const httpSocket = connectSocket({
        host: withoutBrackets(host),
        port: port === '' ? 443 : Number(port),
        ...(guard && { lookup: guard.lookup }),
      });
      this.#add(httpSocket);
      connect({ ...target, httpSocket }, onConnected);
    };
  }

  /**
   * Resets all sockets: buffered data is never sent, not even after the process ends or the network recovers. New
   * connections fail.
   */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) resetNow(socket);
  }

  #verified(onConnected: buildConnector.Callback): buildConnector.Callback {
    const { verify } = this.#options;
    if (verify === undefined) return onConnected;
    return (...[error, socket]) => {
      if (error !== null) return onConnected(error, null);
      verify().then(
        () => onConnected(null, socket),
        (reason: unknown) => {
          socket.destroy();
          onConnected(reason instanceof Error ? reason : new Error(String(reason)), null);
        },
      );
    };
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

/**
 * `resetAndDestroy` first waits for pending writes: too late for a process that exits now, and useless without a
 * network. This property makes `destroy` send a reset. In a Node version without it, kernel buffers would still be
 * sent.
 */
function resetNow(socket: Socket): void {
  Object.assign(socket, { resetAndClosing: true }).destroy();
}
