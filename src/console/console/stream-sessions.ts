import type { Clock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import type { Random } from '#util/random.ts';
import { BackendError, errorCodeOf } from '#web';

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
const maxStreams = 1_000;
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

  /** Starts a stream. What it fails with is sent as its last line. @throws BackendError when it cannot be started */
  start(
    { session: id, number }: StreamName,
    open: (signal: AbortSignal) => AsyncIterable<unknown>,
  ): void {
    const session = this.#sessions.get(id);
    if (session === undefined)
      throw new BackendError('gone', 'The connection of the page has ended');
    if (session.streams.size >= maxStreams || session.streams.has(number))
      throw new BackendError('failed', 'Too many streams are open');
    const stopper = new AbortController();
    const values = open(stopper.signal);
    session.streams.set(number, stopper);
    void this.#pump(session, number, { values, stopper });
  }

  stop({ session, number }: StreamName): void {
    this.#sessions.get(session)?.streams.get(number)?.abort();
  }

  async #pump(session: Session, number: number, { values, stopper }: Pump): Promise<void> {
    const { send, streams } = session;
    try {
      for await (const value of values) {
        if (stopper.signal.aborted) break;
        await send({ stream: number, value });
      }
      if (!stopper.signal.aborted) await send({ stream: number, end: true });
    } catch (error) {
      const failure = { code: errorCodeOf(error), message: messageOf(error) };
      if (!stopper.signal.aborted)
        await send({ stream: number, error: failure }).catch(() => undefined);
    } finally {
      streams.delete(number);
    }
  }
}

interface Pump {
  readonly values: AsyncIterable<unknown>;
  readonly stopper: AbortController;
}

export interface StreamName {
  readonly session: string;
  readonly number: number;
}
