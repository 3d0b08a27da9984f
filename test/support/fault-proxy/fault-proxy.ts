import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../patience.ts';
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
  /** Requests that no fault meets. @default none */
  readonly spares?: ((request: ProxiedRequest) => boolean) | undefined;
}

/** What a request met on its way. */
interface Meeting {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: ProxiedRequest;
  readonly injected: InjectedFault<RequestFault> | undefined;
}

/** A reverse proxy in front of an API server, which does damage on demand. */
export class FaultProxy {
  readonly url: string;
  readonly #port: number;
  readonly #server: Server;
  readonly #upstream: Upstream;
  readonly #faults: FaultList;
  readonly #held = new HeldAnswers();
  /** By remote port: a TLS socket cannot reset the connection below it. */
  readonly #sockets = new Map<number, Socket>();
  readonly #open = new Set<ProxiedRequest>();
  readonly #openListeners = new Set<() => void>();
  #requestCount = 0;

  private constructor({ port, tls, spares, ...upstream }: FaultProxyOptions) {
    this.#faults = new FaultList(spares);
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

  /** Requests that wait for their answer, watches left out. */
  get openRequests(): readonly ProxiedRequest[] {
    return [...this.#open].filter(({ verb }) => verb !== 'watch');
  }

  /** Watches that were asked for and have not ended: the same one twice if it was asked for twice. */
  get openWatches(): readonly string[] {
    return [...this.#open].filter(({ verb }) => verb === 'watch').map(watchName);
  }

  /** Resolves when what is open satisfies the check. @throws Error that names what is open, after `limitMs`. */
  untilOpen(isMet: () => boolean, limitMs = patienceMs): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#openListeners.delete(check);
      };
      const check = () => {
        if (!isMet()) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        const open = [...this.#open].map(({ verb, path }) => `${verb} ${path}`);
        reject(new Error(`Open after ${limitMs} ms: ${open.join(', ')}`));
      }, limitMs);
      this.#openListeners.add(check);
      check();
    });
  }

  /** Watches that are open and those under way are met, too: a fault on events acts at the next event. */
  inject<T extends Fault>(fault: T): InjectedFault<T> {
    return this.#faults.add(fault);
  }

  /** Removes all faults. */
  clear(): void {
    this.#faults.clear();
  }

  /** Shows this certificate on new connections. */
  presentCertificate(tls: FaultProxyOptions['tls']): void {
    this.#server.setSecureContext(tls);
  }

  /** Resets all connections and rejects new ones. */
  async reject(): Promise<void> {
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
    if (this.#server.listening) await this.reject();
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
    this.#noteOpen(request, response);
    const injected = this.#faults.forRequest(request);
    response.on('error', () => undefined);
    try {
      await this.#relay({ message, response, request, injected });
    } catch {
      // The server is away, or the runtime went: a client that still waits is to see a broken connection.
      this.#reset(message);
    }
  }

  #noteOpen(request: ProxiedRequest, response: ServerResponse): void {
    const tell = () => {
      for (const listener of this.#openListeners) listener();
    };
    this.#open.add(request);
    response.once('close', () => {
      this.#open.delete(request);
      tell();
    });
    tell();
  }

  async #relay(meeting: Meeting): Promise<void> {
    const { message, response, request, injected } = meeting;
    const action = injected?.fault.action;
    const body = await text(message);
    const isAnswered = await this.#before(meeting, action);
    if (isAnswered) return;
    const { method } = request;
    const path = pathUnder(action, request);
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
    { message, response, request, injected }: Meeting,
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
      case 'hold':
        if (action.what === 'request') await injected?.hold();
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
    if (injected !== undefined) await this.#beforeAnswer(injected);
    response.writeHead(answer.statusCode ?? 0, {
      ...endToEnd(answer),
      'content-length': Buffer.byteLength(body),
    });
    if (action?.kind === 'truncate') {
      response.write(body.slice(0, body.length / 2), () => this.#reset(message));
      return;
    }
    response.end(body);
    if (action?.kind === 'call') await action.answered?.();
  }

  async #beforeAnswer(injected: InjectedFault<RequestFault>): Promise<void> {
    const { action } = injected.fault;
    if (action.kind === 'delay') await sleep(action.answerMs ?? 0);
    if (action.kind === 'reorder') await this.#held.turn(action.count, injected);
    if (action.kind === 'hold' && action.what === 'answer') await injected.hold();
  }

  #reset({ socket }: IncomingMessage): void {
    this.#sockets.get(socket.remotePort ?? 0)?.resetAndDestroy();
  }
}

function pathUnder(action: RequestAction | undefined, { path }: ProxiedRequest): string {
  switch (action?.kind) {
    case 'paginate':
      return withParameter(path, 'limit', action.pageSize);
    case 'shorten':
      return withParameter(path, 'timeoutSeconds', action.seconds);
    default:
      return path;
  }
}

function withParameter(path: string, name: string, value: number): string {
  const url = new URL(path, 'https://server');
  url.searchParams.set(name, String(value));
  return url.pathname + url.search;
}

/** What is watched, whatever the version. */
function watchName({ path }: ProxiedRequest): string {
  const { pathname, searchParams } = new URL(path, 'https://server');
  const selectors = ['labelSelector', 'fieldSelector'].map((name) => searchParams.get(name) ?? '');
  return [pathname, ...selectors].filter((part) => part !== '').join(' ');
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
