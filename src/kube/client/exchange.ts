import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../util/clock.ts';
import { abortedError, errorFromTransport, timeoutError } from '../errors.ts';
import { KubeError } from '../kube-error.ts';
import type { Receipt, ServerReceipts } from './receive-budget.ts';
import { ReceivedBody } from './received-body.ts';

/** One HTTP request. */
export interface Exchange {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isWrite: boolean;
  /** From the dispatch to the last byte of the response. Begins again after a pause, which does not count. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /**
   * Called when the connection is established, before the first byte. Throwing aborts the exchange. For bodies larger
   * than one socket write it is called again before the last byte: no server accepts the request without that byte.
   */
  readonly beforeSend?: () => void;
  /** Counts what is received of the response, and may pause it. @default not counted */
  readonly receipts?: ServerReceipts;
}

/** Maximum bytes that a TLS socket sends in one write. */
const onePieceBytes = 16_384;

/** The response, with any status. */
export interface HttpResponse {
  readonly status: number;
  readonly retryAfter?: string;
  readonly text: string;
}

/**
 * Sends one request and reads the complete response. Leaves no listener and no timer, and no connection when aborted.
 * @throws KubeError without a complete response, and errors of `beforeSend`.
 */
export function exchange(spec: Exchange, clock: Clock, signal: AbortSignal): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortedError(signal.reason));
    const onAbort = () => handler.cut(abortedError(signal.reason));
    const startTimer = () =>
      clock.after(spec.timeoutMs, () => handler.cut(timeoutError(spec.timeoutMs)));
    let cancelTimer = startTimer();
    const handler = new ResponseCollector(spec, {
      onPause: () => cancelTimer(),
      onResume() {
        cancelTimer = startTimer();
      },
      onEnd(outcome) {
        signal.removeEventListener('abort', onAbort);
        cancelTimer();
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      },
    });
    signal.addEventListener('abort', onAbort, { once: true });
    handler.send();
  });
}

interface CollectorEvents {
  readonly onPause: () => void;
  readonly onResume: () => void;
  readonly onEnd: (outcome: HttpResponse | Error) => void;
}

/** Collects one response. Uses a dispatch handler instead of `Pool.request` to detect whether anything was sent. */
class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly #spec: Exchange;
  readonly #events: CollectorEvents;
  readonly #receipt: Receipt | undefined;
  readonly #chunks = new ReceivedBody();
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retryAfter: string | undefined;
  #bytes = 0;
  #wasSent = false;
  #hasEnded = false;

  constructor(spec: Exchange, events: CollectorEvents) {
    this.#spec = spec;
    this.#events = events;
    this.#receipt = spec.receipts?.open({
      pause: () => {
        this.#events.onPause();
        this.#controller?.pause();
      },
      resume: () => {
        this.#events.onResume();
        // Not while undici parses another response.
        queueMicrotask(() => {
          if (!this.#hasEnded) this.#controller?.resume();
        });
      },
      expire: () => this.cut(timeoutError(spec.timeoutMs)),
    });
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

  /** The body, and its length if the header must be set. */
  #body(): readonly [string | Readable | null, number?] {
    const { body, beforeSend } = this.#spec;
    if (body === undefined) return [null];
    if (beforeSend === undefined || body.length <= onePieceBytes / 3) return [body];
    const bytes = Buffer.from(body);
    if (bytes.length <= onePieceBytes) return [body];
    return [this.#inTwo(bytes, beforeSend), bytes.length];
  }

  /** Streams the body in two parts without read-ahead: the last byte is requested after the first part was handed over. */
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

  /** Aborts the exchange. Without a connection, `onRequestStart` prevents the sending. */
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
    if (this.#hasEnded) return;
    this.#bytes += chunk.length;
    const { maxResponseBytes } = this.#spec;
    if (this.#bytes > maxResponseBytes) {
      this.cut(oversizedError(maxResponseBytes));
      return;
    }
    this.#chunks.add(chunk);
    this.#receipt?.add(chunk.length);
  }

  onResponseEnd(): void {
    const answer = { status: this.#status, text: this.#chunks.text() };
    const retryAfter = this.#retryAfter;
    this.#end(retryAfter === undefined ? answer : { ...answer, retryAfter });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #fail(error: unknown): void {
    const { isWrite } = this.#spec;
    this.#end(errorFromTransport(error, { isWrite, wasSent: this.#wasSent }));
  }

  #end(outcome: HttpResponse | Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // The text is parsed before anything else is received.
    this.#receipt?.close();
    this.#events.onEnd(outcome);
  }
}

function oversizedError(maxBytes: number): KubeError {
  return new KubeError('too-large', `The response is larger than ${maxBytes} bytes`, {
    status: 0,
  });
}
