import { connect as connectSocket, type Socket } from 'node:net';
import { buildConnector } from 'undici';

/** The sockets of some connections, so that all of them can be cut at once, with what the kernel still has to send. */
export class SocketGroup {
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  /** As `buildConnector` of undici; its sockets belong to the group. */
  connector(options: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector(options);
    return (target, onConnected) => {
      if (this.#isCut) return onConnected(new Error('The connections are cut'), null);
      if (target.protocol !== 'https:') {
        connect(target, (...[error, socket]) => {
          if (error !== null) return onConnected(error, null);
          this.#add(socket);
          onConnected(null, socket);
        });
        return;
      }
      // A socket of TLS cannot be reset, only the one below it.
      const { hostname: host, port } = target;
      const httpSocket = connectSocket({ host, port: port === '' ? 443 : Number(port) });
      this.#add(httpSocket);
      connect({ ...target, httpSocket }, onConnected);
    };
  }

  /**
   * Cuts all of them: nothing that is in buffers is sent any more, here or in the kernel, not even when the process ends or a network
   * comes back. New ones are not made.
   */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) resetNow(socket);
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

/**
 * `resetAndDestroy` first ends what is to be written, and waits until it is: too late for a process that ends now, and in vain while
 * the network is away. It has noted by this property that the end is to be a reset; a Node that does so no more sends what is in the kernel.
 */
function resetNow(socket: Socket): void {
  Object.assign(socket, { resetAndClosing: true }).destroy();
}
