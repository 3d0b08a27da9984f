import type { Clock } from '../util/clock.ts';
import { messageOf } from '../util/homeostat-error.ts';
import type { Random } from '../util/random.ts';
import { BackendError } from '../web/index.ts';

export interface StreamSessionsOptions {
  readonly clock: Clock;
  readonly random: Random;
}

/** A connection of one page. */
interface Session {
  readonly send: (line: unknown) => Promise<void>;
  readonly streams: Map<number, AbortController>;
}

/** Pages that open more are rejected. */
const maxStreams = 200;
const maxSessions = 50;
/** An idle connection gets an empty line. */
const keepAliveMs = 2_000;

/** The streams of all pages: each page has one connection, and the values of its streams are sent as lines with their numbers. */
export class StreamSessions {
  readonly #options: StreamSessionsOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(options: StreamSessionsOptions) {
    this.#options = options;
  }

  /**
   * Serves a connection until the signal aborts.
   * @param send writes a line, and resolves when the next one may be written
   * @throws BackendError when there are too many connections
   */
  async serve(send: (line: unknown) => Promise<void>, signal: AbortSignal): Promise<void> {
    if (this.#sessions.size >= maxSessions)
      throw new BackendError('failed', 'Too many pages are open');
    const { clock, random } = this.#options;
    const id = random.text(16, 'abcdefghijklmnopqrstuvwxyz0123456789');
    const session: Session = { send, streams: new Map() };
    this.#sessions.set(id, session);
    try {
      await send({ session: id });
      while (!signal.aborted) {
        await clock.sleep(keepAliveMs, signal);
        await send({});
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#sessions.delete(id);
      for (const stopper of session.streams.values()) stopper.abort();
    }
  }

  /** Starts a stream, and resolves with its first value or its end. @throws BackendError when it cannot be opened */
  async start(
    { session: id, number }: StreamName,
    open: (signal: AbortSignal) => AsyncIterable<unknown>,
  ): Promise<void> {
    const session = this.#sessions.get(id);
    if (session === undefined)
      throw new BackendError('gone', 'The connection of the page has ended');
    if (session.streams.size >= maxStreams || session.streams.has(number))
      throw new BackendError('failed', 'Too many streams are open');
    const stopper = new AbortController();
    session.streams.set(number, stopper);
    const opened = Promise.withResolvers<void>();
    void this.#pump(session, number, { values: open(stopper.signal), opened, stopper });
    // A watch may be silent for minutes: that it has not failed by then counts as opened.
    const cancel = this.#options.clock.after(openMs, () => opened.resolve());
    await opened.promise.finally(cancel);
  }

  stop({ session, number }: StreamName): void {
    this.#sessions.get(session)?.streams.get(number)?.abort();
  }

  async #pump(session: Session, number: number, { values, opened, stopper }: Pump): Promise<void> {
    const { send, streams } = session;
    try {
      for await (const value of values) {
        opened.resolve();
        if (stopper.signal.aborted) break;
        await send({ stream: number, value });
      }
      opened.resolve();
      if (!stopper.signal.aborted) await send({ stream: number, end: true });
    } catch (error) {
      opened.reject(error);
      opened.promise.catch(() => undefined);
      const message = messageOf(error);
      if (!stopper.signal.aborted)
        await send({ stream: number, error: message }).catch(() => undefined);
    } finally {
      streams.delete(number);
    }
  }
}

/** A failed watch is reported by the API server within this time. */
const openMs = 300;

interface Pump {
  readonly values: AsyncIterable<unknown>;
  readonly opened: PromiseWithResolvers<void>;
  readonly stopper: AbortController;
}

export interface StreamName {
  readonly session: string;
  readonly number: number;
}
