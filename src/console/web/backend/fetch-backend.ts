import type { Clock } from '#util/clock.ts';
import { parseJson } from '#util/exact-json.ts';
import { BackendError, errorOfConsole } from '../backend-error.ts';
import { AskingBackend, type StreamRequest, type Values } from './asking-backend.ts';
import { StreamConnection } from './stream-connection.ts';

export interface FetchBackendOptions {
  /** Address of the console, with a slash at the end. */
  readonly base: string;
  readonly clock: Clock;
  /** @default the browser's */
  readonly fetch?: typeof fetch;
}

/** The backend of a page that a server of Homeostat serves: requests to the same origin. */
export class FetchBackend extends AskingBackend {
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #streams: StreamConnection;

  constructor({
    base,
    clock,
    fetch: send = (...parameters) => fetch(...parameters),
  }: FetchBackendOptions) {
    super();
    this.#base = base;
    this.#fetch = send;
    this.#streams = new StreamConnection({
      clock,
      url: `${base}streams`,
      send: (url, init) => this.#send(url, init),
    });
  }

  async ask<Answer>(question: string, body: unknown, signal: AbortSignal): Promise<Answer> {
    const response = await this.#send(`${this.#base}api/${question}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal,
    });
    return parseJson(await response.text()) as unknown as Answer;
  }

  protected override open(request: StreamRequest, signal: AbortSignal): Values<unknown> {
    return this.#streams.open(request, signal);
  }

  readonly silentMs = (): number | undefined => this.#streams.silentMs;

  /** @throws BackendError */
  async #send(url: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      const headers = init.body === undefined ? {} : { 'content-type': 'application/json' };
      response = await this.#fetch(url, { ...init, headers, cache: 'no-store' });
    } catch (cause) {
      throw new BackendError('unreachable', 'The console does not respond', { cause });
    }
    if (response.ok) return response;
    const body: unknown = await response.json().catch(() => undefined);
    throw errorOfConsole(body, `The console responded with status ${response.status}`);
  }
}
