import type { Dispatcher } from 'undici';
import { ReceivedBody } from './received-body.ts';

/** A response, with any status. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** As undici passes them: names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What the sender of a request decides about its response. */
export interface ResponseEvents {
  /** Called when the connection is established, before the first byte. An error that it throws ends the request: see `rejected`. */
  readonly beforeSend?: (() => void) | undefined;
  /** Called with the head of the response. */
  readonly onHead?: (status: number, headers: ResponseHeaders) => void;
  /** Called with the number of bytes that were received. */
  readonly onBytes?: (count: number) => void;
  /** Called once, with the response or with the error of one of these. */
  readonly onEnd: (outcome: ReceivedResponse | Error) => void;
  /** The error of `beforeSend`. */
  readonly rejected: (error: unknown) => Error;
  /** The body is larger than permitted. */
  readonly tooLarge: () => Error;
  /** The connection failed, before or after the request was sent. */
  readonly failed: (error: unknown) => Error;
}

/**
 * Collects one response, and knows whether anything of the request was sent. A dispatch handler, because `Pool.request` does not detect
 * that. Used for the API server and for other servers, whose errors differ.
 */
export class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #events: ResponseEvents;
  readonly #maxBytes: number;
  readonly #body = new ReceivedBody();
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: ResponseHeaders = {};
  #bytes = 0;
  #wasSent = false;
  #hasEnded = false;

  constructor(maxBytes: number, events: ResponseEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  /** Whether bytes of the request may have reached the server. */
  get wasSent(): boolean {
    return this.#wasSent;
  }

  /** Ends the request, and its connection. Without a connection, nothing is sent. */
  cut(error: Error): void {
    if (this.#hasEnded) return;
    this.#end(error);
    this.#controller?.abort(error);
  }

  /** Ends the request with a failure of the connection. */
  fail(error: unknown): void {
    if (!this.#hasEnded) this.#end(this.#events.failed(error));
  }

  /** Stops reading. */
  pause(): void {
    this.#controller?.pause();
  }

  /** Continues reading. Call it from nothing that undici calls: it may parse another response. */
  resume(): void {
    if (!this.#hasEnded) this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#hasEnded) {
      controller.abort(new Error('The request has ended already'));
      return;
    }
    try {
      this.#events.beforeSend?.();
    } catch (error) {
      this.cut(this.#events.rejected(error));
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
    this.#headers = headers;
    this.#events.onHead?.(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#hasEnded) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.cut(this.#events.tooLarge());
      return;
    }
    this.#body.add(chunk);
    this.#events.onBytes?.(chunk.length);
  }

  onResponseEnd(): void {
    if (this.#hasEnded) return;
    this.#end({ status: this.#status, headers: this.#headers, text: this.#body.text() });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  #end(outcome: ReceivedResponse | Error): void {
    this.#hasEnded = true;
    this.#events.onEnd(outcome);
  }
}
