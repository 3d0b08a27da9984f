import {
  type ApiRequest,
  type ApiResponse,
  type ApiStream,
  abortedError,
  type ClosableApiClient,
  errorFromResponse,
} from '#kube';
import type { ApiAnswer, Sandbox } from '#sandbox';
import { anySignal } from '#util/any-signal.ts';
import { parseJson } from '#util/exact-json.ts';

export interface SandboxClientOptions {
  readonly sandbox: Pick<Sandbox, 'handle'>;
  /** The user agent, which the server records as field manager where a request names none. */
  readonly userAgent: string;
  /** Called before each request. An answer that it returns takes the place of the server's. */
  readonly onRequest?: (request: ApiRequest) => ApiAnswer | undefined;
  /** Called with the HTTP status of each answer. */
  readonly onAnswer?: (request: ApiRequest, status: number) => void;
}

type StreamedRequest = Parameters<ClosableApiClient['stream']>[0];

/** A client of a sandbox in the same process: no sockets, no queue, no retries. */
export class SandboxClient implements ClosableApiClient {
  readonly unreachable = undefined;
  readonly #options: SandboxClientOptions;
  readonly #closing = new AbortController();

  constructor(options: SandboxClientOptions) {
    this.#options = options;
  }

  async request(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const answer = this.#send(request, signal);
    const text = typeof answer.body === 'string' ? answer.body : await wholeText(answer.body);
    // As on a connection the answer arrives in a later turn.
    await Promise.resolve();
    const { status } = answer;
    if (!isSuccess(status)) throw errorOf(answer, text);
    return { status, body: text === '' ? undefined : parseJson(text) };
  }

  async stream(request: StreamedRequest, signal: AbortSignal): Promise<ApiStream> {
    const answer = this.#send({ method: 'GET', ...request }, signal);
    if (typeof answer.body === 'string' && !isSuccess(answer.status))
      throw errorOf(answer, answer.body);
    const chunks = typeof answer.body === 'string' ? single(answer.body) : answer.body;
    return stream(chunks, anySignal([signal, this.#closing.signal]));
  }

  suspectOutage(): void {
    // A function call is always answered.
  }

  onAuthenticated(): () => void {
    return () => undefined;
  }

  dropPendingWrites(): void {
    this.#closing.abort(new Error('The client is closed'));
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('The client is closed'));
  }

  #send(request: ApiRequest, signal: AbortSignal): ApiAnswer {
    for (const { aborted, reason } of [signal, this.#closing.signal])
      if (aborted) throw abortedError(reason);
    const { sandbox, userAgent, onRequest, onAnswer } = this.#options;
    const { accept = 'application/json', contentType = 'application/json' } = request;
    const { method, body } = request;
    const answer =
      onRequest?.(request) ??
      sandbox.handle({
        method,
        path: pathWithQuery(request),
        headers: { accept, 'user-agent': userAgent, 'content-type': contentType },
        body: body === undefined ? '' : JSON.stringify(body),
      });
    onAnswer?.(request, answer.status);
    return answer;
  }
}

function pathWithQuery({ path, query = {} }: Pick<ApiRequest, 'path' | 'query'>): string {
  const parameters = new URLSearchParams(query).toString();
  return parameters === '' ? path : `${path}?${parameters}`;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function errorOf({ status, headers }: ApiAnswer, text: string) {
  const retryAfter = headers['retry-after'];
  return errorFromResponse({
    status,
    body: parseIfJson(text),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

function parseIfJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

async function wholeText(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

async function* single(text: string): AsyncGenerator<string, void, undefined> {
  yield text;
}

/** Ends with the server's stream, throws when the signal aborts. */
function stream(chunks: AsyncIterable<string>, signal: AbortSignal): ApiStream {
  const iterator = chunks[Symbol.asyncIterator]();
  const end = () => void iterator.return?.();
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => {
      end();
      reject(abortedError(signal.reason));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  aborted.catch(() => undefined);
  async function* read(): AsyncGenerator<string, void, undefined> {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done === true) return;
      yield next.value;
    }
  }
  return { chunks: read(), close: end };
}
