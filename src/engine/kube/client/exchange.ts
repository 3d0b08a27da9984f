import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '#util/clock.ts';
import { abortedError, errorFromTransport, timeoutError } from '../errors.ts';
import { KubeError } from '../kube-error.ts';
import type { ServerReceipts } from './receive-budget.ts';
import { type ReceivedResponse, ResponseHandler } from './response-handler.ts';

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
    const onTimeout = () => handler.cut(timeoutError(spec.timeoutMs));
    const startTimer = () => clock.after(spec.timeoutMs, onTimeout);
    let cancelTimer = startTimer();
    const handler: ResponseHandler = new ResponseHandler(spec.maxResponseBytes, {
      beforeSend: spec.beforeSend,
      onBytes: (count) => receipt?.add(count),
      onEnd(outcome) {
        signal.removeEventListener('abort', onAbort);
        cancelTimer();
        // The text is parsed before anything else is received.
        receipt?.close();
        if (outcome instanceof Error) reject(outcome);
        else resolve(httpResponseOf(outcome));
      },
      rejected: asError,
      tooLarge: () => oversizedError(spec.maxResponseBytes),
      failed: (error) => {
        const { isWrite } = spec;
        return errorFromTransport(error, { isWrite, wasSent: handler.wasSent });
      },
    });
    const receipt = spec.receipts?.open({
      pause() {
        cancelTimer();
        handler.pause();
      },
      resume() {
        cancelTimer = startTimer();
        // Not while undici parses another response.
        queueMicrotask(() => handler.resume());
      },
      expire: onTimeout,
    });
    signal.addEventListener('abort', onAbort, { once: true });
    dispatch(spec, handler);
  });
}

function dispatch(spec: Exchange, handler: ResponseHandler): void {
  const { dispatcher, origin, method, path, headers: given } = spec;
  const [body, length] = bodyOf(spec, handler);
  const headers = length === undefined ? given : { ...given, 'content-length': String(length) };
  try {
    dispatcher.dispatch({ origin, method, path, headers, body }, handler);
  } catch (error) {
    handler.fail(error);
  }
}

/** The body, and its length if the header must be set. */
function bodyOf(
  { body, beforeSend }: Exchange,
  handler: ResponseHandler,
): readonly [string | Readable | null, number?] {
  if (body === undefined) return [null];
  if (beforeSend === undefined || body.length <= onePieceBytes / 3) return [body];
  const bytes = Buffer.from(body);
  if (bytes.length <= onePieceBytes) return [body];
  return [inTwo(bytes, beforeSend, handler), bytes.length];
}

/** Streams the body in two parts without read-ahead: the last byte is requested after the first part was handed over. */
function inTwo(bytes: Buffer, beforeLast: () => void, handler: ResponseHandler): Readable {
  const last = bytes.length - 1;
  let sent = 0;
  const read = (): Buffer | null => {
    if (sent === last) beforeLast();
    const piece = sent === 0 ? bytes.subarray(0, last) : bytes.subarray(sent);
    sent += piece.length;
    return piece.length === 0 ? null : piece;
  };
  return new Readable({
    highWaterMark: 0,
    read() {
      try {
        this.push(read());
      } catch (error) {
        handler.cut(asError(error));
      }
    },
  });
}

function httpResponseOf({ status, headers, text }: ReceivedResponse): HttpResponse {
  const retryAfter = headers['retry-after'];
  return { status, text, ...(typeof retryAfter === 'string' && { retryAfter }) };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function oversizedError(maxBytes: number): KubeError {
  return new KubeError('too-large', `The response is larger than ${maxBytes} bytes`, {
    status: 0,
  });
}
