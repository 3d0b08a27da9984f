import type { Clock } from '#util/clock.ts';
import { isJsonObject } from '#util/json.ts';
import { jsonLines, textChunks } from '#util/json-lines.ts';
import { StreamQueue } from '#util/stream-queue.ts';
import { BackendError, errorOfConsole } from '../backend-error.ts';
import type { StreamRequest } from './asking-backend.ts';

export interface StreamConnectionOptions {
  /** Address of the streams. */
  readonly url: string;
  readonly clock: Clock;
  /** Sends a request of this page. @throws BackendError */
  readonly send: (url: string, init: RequestInit) => Promise<Response>;
}

interface Session {
  readonly id: string;
  readonly streams: Map<number, StreamQueue<unknown>>;
  readonly stopper: AbortController;
}

/** The server sends something at least this often. */
const silenceMs = 15_000;
/** Without a stream, the connection is closed after this time. */
const lingerMs = 2_000;

/**
 * All streams of a page over one connection: a browser opens six to a server, and a page may follow more collections than that. If it breaks,
 * all streams fail, and the next one connects again.
 */
export class StreamConnection {
  readonly #options: StreamConnectionOptions;
  #session: Promise<Session> | undefined;
  #next = 1;
  /** Monotonic time of the last line. Undefined: there is no connection. */
  #heardAtMs: number | undefined;

  constructor(options: StreamConnectionOptions) {
    this.#options = options;
  }

  /** Time since the server was last heard, in ms. Undefined: there is no connection. */
  get silentMs(): number | undefined {
    return this.#heardAtMs === undefined
      ? undefined
      : this.#options.clock.monotonicMs() - this.#heardAtMs;
  }

  /** The values of a stream. @throws BackendError when it cannot be opened, or breaks */
  async *open(
    request: StreamRequest,
    signal: AbortSignal,
  ): AsyncGenerator<unknown, void, undefined> {
    const session = await this.#connect();
    const number = this.#next++;
    const queue = new StreamQueue<unknown>();
    session.streams.set(number, queue);
    const url = `${this.#options.url}/${session.id}/${number}`;
    const onAbort = () => queue.end();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await this.#options.send(url, { method: 'PUT', body: JSON.stringify(request), signal });
      yield* queue;
    } finally {
      signal.removeEventListener('abort', onAbort);
      session.streams.delete(number);
      // The server also ends streams whose connection has ended.
      this.#options.send(url, { method: 'DELETE' }).catch(() => undefined);
      this.#closeIfIdle(session);
    }
  }

  #connect(): Promise<Session> {
    if (this.#session !== undefined) return this.#session;
    const connecting = this.#start();
    this.#session = connecting;
    connecting.catch(() => {
      if (this.#session === connecting) this.#session = undefined;
    });
    return connecting;
  }

  async #start(): Promise<Session> {
    const { url, send, clock } = this.#options;
    const stopper = new AbortController();
    const cancel = clock.after(silenceMs, () => stopper.abort());
    const response = await send(url, { signal: stopper.signal }).finally(cancel);
    if (response.body === null) throw new BackendError('failed', 'The stream has no content');
    const values = jsonLines(textChunks(response.body))[Symbol.asyncIterator]();
    const first = await values.next();
    const id = first.done !== true && isJsonObject(first.value) ? String(first.value.session) : '';
    const session = { id, streams: new Map(), stopper };
    void this.#read(session, values);
    return session;
  }

  async #read(session: Session, values: AsyncIterator<unknown>): Promise<void> {
    const { clock } = this.#options;
    let error: unknown;
    try {
      for (;;) {
        const cancel = clock.after(silenceMs, () => session.stopper.abort());
        const next = await values.next().finally(cancel);
        if (next.done === true) break;
        this.#heardAtMs = clock.monotonicMs();
        deliver(session, next.value);
      }
    } catch (cause) {
      error = cause;
    }
    this.#session = undefined;
    this.#heardAtMs = undefined;
    const broken = new BackendError('unreachable', 'The connection to the console has ended', {
      cause: error,
    });
    for (const queue of session.streams.values()) queue.fail(broken);
  }

  #closeIfIdle(session: Session): void {
    if (session.streams.size > 0) return;
    this.#options.clock.after(lingerMs, () => {
      if (session.streams.size === 0) session.stopper.abort();
    });
  }
}

/** A line: `{ stream, value }`, `{ stream, end: true }` or `{ stream, error: { code, message } }`; an empty object keeps the connection alive. */
function deliver({ streams }: Session, line: unknown): void {
  if (!isJsonObject(line) || typeof line.stream !== 'number') return;
  const queue = streams.get(line.stream);
  if ('value' in line) queue?.push(line.value);
  else if (isJsonObject(line.error))
    queue?.fail(errorOfConsole(line.error, 'The stream has ended'));
  else queue?.end();
}
