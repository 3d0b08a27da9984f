import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../util/clock.ts';
import { abortedError, errorOfTransport, timeoutError } from '../errors.ts';
import { KubeError } from '../kube-error.ts';

/** One request as it goes over the wire. */
export interface Exchange {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isWrite: boolean;
  /** From the dispatch to the last byte. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  /**
   * Called when the connection is there and nothing has been sent; what it throws ends the exchange. Of a body that the kernel may not
   * take in one piece, also right before its last byte: without that one no server takes it.
   */
  readonly beforeSend?: () => void;
}

/** What a socket of TLS hands on without waiting, in bytes. */
const onePieceBytes = 16_384;

/** The answer, whatever its status. */
export interface Answer {
  readonly status: number;
  readonly retryAfter?: string;
  readonly text: string;
}

/**
 * Sends one request and reads the whole answer. Leaves no listener on the signal, no timer, and, when it
 * was cut short, no connection.
 * @throws KubeError when there is no whole answer, and whatever `beforeSend` throws.
 */
export function exchange(spec: Exchange, clock: Clock, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortedError(signal.reason));
    const onAbort = () => handler.cut(abortedError(signal.reason));
    const cancelTimer = clock.after(spec.timeoutMs, () =>
      handler.cut(timeoutError(spec.timeoutMs)),
    );
    const handler = new AnswerCollector(spec, (outcome) => {
      signal.removeEventListener('abort', onAbort);
      cancelTimer();
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    });
    signal.addEventListener('abort', onAbort, { once: true });
    handler.send();
  });
}

/** Collects one answer. Below `Pool.request`: it must know whether anything has been sent. */
class AnswerCollector implements Dispatcher.DispatchHandler {
  readonly #spec: Exchange;
  readonly #onEnd: (outcome: Answer | Error) => void;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retryAfter: string | undefined;
  #bytes = 0;
  #wasSent = false;
  #hasEnded = false;

  constructor(spec: Exchange, onEnd: (outcome: Answer | Error) => void) {
    this.#spec = spec;
    this.#onEnd = onEnd;
  }

  send(): void {
    const { dispatcher, origin, method, path, headers: given } = this.#spec;
    const [body, length] = this.#body();
    const headers = length === undefined ? given : { ...given, 'content-length': String(length) };
    const options = { origin, method, path, headers, body };
    try {
      dispatcher.dispatch(options, this);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What is sent, and its length where that has to be said. */
  #body(): readonly [string | Readable | null, number?] {
    const { body, beforeSend } = this.#spec;
    if (body === undefined) return [null];
    if (beforeSend === undefined || body.length <= onePieceBytes / 3) return [body];
    const bytes = Buffer.from(body);
    if (bytes.length <= onePieceBytes) return [body];
    return [this.#inTwo(bytes, beforeSend), bytes.length];
  }

  /** The second piece is asked for when the first one has been handed on: nothing is read ahead. */
  #inTwo(bytes: Buffer, beforeLast: () => void): Readable {
    const last = bytes.length - 1;
    let sent = 0;
    const read = (): Buffer | null => {
      if (sent === last) beforeLast();
      const piece = sent === 0 ? bytes.subarray(0, last) : bytes.subarray(sent);
      sent += piece.length;
      return piece.length === 0 ? null : piece;
    };
    const fail = (error: unknown) =>
      this.cut(error instanceof Error ? error : new Error(String(error)));
    return new Readable({
      highWaterMark: 0,
      read() {
        try {
          this.push(read());
        } catch (error) {
          fail(error);
        }
      },
    });
  }

  /** Ends it now. Where the connection is not there yet, `onRequestStart` sees to it that nothing is sent. */
  cut(error: Error): void {
    if (this.#hasEnded) return;
    this.#end(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#hasEnded) {
      controller.abort(new Error('The request has ended already'));
      return;
    }
    try {
      this.#spec.beforeSend?.();
    } catch (error) {
      this.cut(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#wasSent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    const retryAfter = headers['retry-after'];
    this.#retryAfter = typeof retryAfter === 'string' ? retryAfter : undefined;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    const { maxAnswerBytes } = this.#spec;
    if (this.#bytes > maxAnswerBytes) this.cut(oversizedError(maxAnswerBytes));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    const answer = { status: this.#status, text: whole.toString('utf8') };
    const retryAfter = this.#retryAfter;
    this.#end(retryAfter === undefined ? answer : { ...answer, retryAfter });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #fail(error: unknown): void {
    const { isWrite } = this.#spec;
    this.#end(errorOfTransport(error, { isWrite, wasSent: this.#wasSent }));
  }

  #end(outcome: Answer | Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd(outcome);
  }
}

function oversizedError(maxBytes: number): KubeError {
  return new KubeError(
    'unexpected',
    `Expected an answer of at most ${maxBytes} bytes, found more`,
    {
      status: 0,
    },
  );
}
