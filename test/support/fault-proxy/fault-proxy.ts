import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, RequestAction, RequestFault } from './fault.ts';
import { FaultList } from './fault-list.ts';
import { HeldAnswers } from './held-answers.ts';
import type { InjectedFault } from './injected-fault.ts';
import { describeRequest, type ProxiedRequest } from './proxied-request.ts';
import { statusBody } from './status-body.ts';
import { Upstream, type UpstreamOptions } from './upstream.ts';
import { relayWatch } from './watch-relay.ts';

export interface FaultProxyOptions extends UpstreamOptions {
  /** Of loopback. */
  readonly port: number;
  /** Key and certificate of the proxy itself. */
  readonly tls: Pick<ServerOptions, 'key' | 'cert'>;
}

/** What a request met on its way. */
interface Meeting {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: ProxiedRequest;
  readonly injected: InjectedFault<RequestFault> | undefined;
}

/** A reverse proxy in front of an API server, which does damage when told. */
export class FaultProxy {
  readonly url: string;
  readonly #port: number;
  readonly #server: Server;
  readonly #upstream: Upstream;
  readonly #faults = new FaultList();
  readonly #held = new HeldAnswers();
  /** By remote port: a TLS socket cannot reset the connection below it. */
  readonly #sockets = new Map<number, Socket>();
  #requestCount = 0;

  private constructor({ port, tls, ...upstream }: FaultProxyOptions) {
    this.url = `https://127.0.0.1:${port}`;
    this.#port = port;
    this.#upstream = new Upstream(upstream);
    this.#server = createServer(tls, (message, response) => {
      void this.#serve(message, response);
    });
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
    // A handshake that we cut ourselves is no news.
    this.#server.on('tlsClientError', () => undefined);
  }

  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    await proxy.accept();
    return proxy;
  }

  /** Requests that ever came, watches too. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** Watches that are open and those under way are met, too: a fault on events acts at the next event. */
  inject<T extends Fault>(fault: T): InjectedFault<T> {
    return this.#faults.add(fault);
  }

  /** Removes all faults. */
  clear(): void {
    this.#faults.clear();
  }

  /** Resets all connections and refuses new ones. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cutAll();
    await closed;
  }

  /** Listens again. */
  async accept(): Promise<void> {
    const listening = once(this.#server, 'listening');
    this.#server.listen(this.#port, '127.0.0.1');
    await listening;
  }

  /** Resets all connections. */
  cutAll(): void {
    for (const socket of this.#sockets.values()) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    this.clear();
    if (this.#server.listening) await this.refuse();
    this.#upstream.close();
  }

  #keep(socket: Socket): void {
    const { remotePort = 0 } = socket;
    this.#sockets.set(remotePort, socket);
    socket.once('close', () => this.#sockets.delete(remotePort));
    socket.on('error', () => undefined);
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#requestCount += 1;
    const request = describeRequest(message);
    const injected = this.#faults.forRequest(request);
    response.on('error', () => undefined);
    try {
      await this.#relay({ message, response, request, injected });
    } catch {
      // The server is away, or the runtime went: whoever still waits is to see a broken connection.
      this.#reset(message);
    }
  }

  async #relay(meeting: Meeting): Promise<void> {
    const { message, response, request, injected } = meeting;
    const action = injected?.fault.action;
    const body = await text(message);
    const isAnswered = await this.#before(meeting, action);
    if (isAnswered) return;
    const { method } = request;
    const path = action?.kind === 'paginate' ? withLimit(request, action.pageSize) : request.path;
    const isWatch = request.verb === 'watch';
    const answer = await this.#upstream.send(
      { method, path, headers: message.headers, body },
      isWatch,
    );
    if (!isWatch) return this.#answer(meeting, action, answer);
    response.writeHead(answer.statusCode ?? 0, endToEnd(answer));
    // The head must be there before the first event is.
    response.flushHeaders();
    const cut = () => this.#sockets.get(message.socket.remotePort ?? 0)?.destroy();
    await relayWatch({ request, faults: this.#faults, source: answer, target: response, cut });
  }

  /** What happens before the request is forwarded; true when it will not be. */
  async #before(
    { message, response, request }: Meeting,
    action: RequestAction | undefined,
  ): Promise<boolean> {
    switch (action?.kind) {
      case 'answer':
        response.writeHead(action.status, {
          'content-type': 'application/json',
          ...(action.retryAfterSeconds === undefined
            ? {}
            : { 'retry-after': String(action.retryAfterSeconds) }),
        });
        response.end(JSON.stringify(statusBody(action.status, request)));
        return true;
      case 'reset':
        if (action.when === 'before') this.#reset(message);
        return action.when === 'before';
      case 'delay':
        await sleep(action.requestMs ?? 0);
        return false;
      case 'call':
        return (await action.run(request)) === 'drop';
      default:
        return false;
    }
  }

  async #answer(
    { message, response, injected }: Meeting,
    action: RequestAction | undefined,
    answer: IncomingMessage,
  ): Promise<void> {
    const body = await text(answer);
    if (action?.kind === 'reset') return this.#reset(message);
    if (action?.kind === 'delay') await sleep(action.answerMs ?? 0);
    if (action?.kind === 'reorder' && injected !== undefined)
      await this.#held.turn(action.count, injected);
    response.writeHead(answer.statusCode ?? 0, {
      ...endToEnd(answer),
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  }

  #reset({ socket }: IncomingMessage): void {
    this.#sockets.get(socket.remotePort ?? 0)?.resetAndDestroy();
  }
}

function withLimit({ path }: ProxiedRequest, pageSize: number): string {
  const url = new URL(path, 'https://server');
  url.searchParams.set('limit', String(pageSize));
  return url.pathname + url.search;
}

/** Headers without those that are of one connection only. */
function endToEnd({ headers }: IncomingMessage) {
  const {
    connection: _connection,
    'transfer-encoding': _encoding,
    'keep-alive': _keepAlive,
    ...others
  } = headers;
  return others;
}
