import type { Dispatcher } from 'undici';
import type { Clock } from '#util/clock.ts';
import { abortedError, errorFromTransport, timeoutError } from '../errors.ts';
import type { ApiStream } from './api-client.ts';

/** Longer error bodies are truncated; Status bodies are far shorter. */
const maxErrorCharacters = 65_536;

export interface StreamRequest {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Timeout of the response head, and of an error body. The rest has no limit. */
  readonly headTimeoutMs: number;
  /** Called for every chunk of the body. */
  readonly onText?: () => void;
}

/** A response whose body is still being received. */
export interface OpenedStream {
  readonly status: number;
  readonly retryAfter?: string;
  /** The body. */
  readonly stream: ApiStream;
  /** Reads the body of an error response. Empty if it does not end in time. */
  errorBody(): Promise<string>;
}

type Body = Dispatcher.ResponseData['body'];

/**
 * Opens a GET with a streamed response. Listens to the signal until the response ends.
 * @throws KubeError without a response head.
 */
export async function openStream(
  request: StreamRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<OpenedStream> {
  if (signal.aborted) throw abortedError(signal.reason);
  // A separate signal: undici's listeners disappear with it. The caller's long-lived signal gets only one listener.
  const cut = new AbortController();
  const onAbort = () => cut.abort(abortedError(signal.reason));
  signal.addEventListener('abort', onAbort, { once: true });
  const release = () => signal.removeEventListener('abort', onAbort);
  try {
    const answer = await readHead(request, clock, cut);
    const errorBody = () => readErrorBody(answer.body, clock, request.headTimeoutMs);
    return { ...openedStream(answer, release, request.onText), errorBody };
  } catch (error) {
    release();
    throw errorFromTransport(error, { isWrite: false, wasSent: true });
  }
}

function readHead(
  { dispatcher, origin, path, headers, headTimeoutMs }: StreamRequest,
  clock: Clock,
  cut: AbortController,
): Promise<Dispatcher.ResponseData> {
  const { signal } = cut;
  const options = { origin, path, headers, method: 'GET', signal } as const;
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.after(headTimeoutMs, () => cut.abort(timeoutError(headTimeoutMs)));
    // undici handles an abort only once it is connected: do not wait for that.
    const onCut = () => {
      cancelTimer();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onCut, { once: true });
    dispatcher.request(options).then(
      (answer) => {
        cancelTimer();
        signal.removeEventListener('abort', onCut);
        resolve(answer);
      },
      (error) => {
        cancelTimer();
        reject(error);
      },
    );
  });
}

function openedStream(
  answer: Dispatcher.ResponseData,
  release: () => void,
  onText: (() => void) | undefined,
): Omit<OpenedStream, 'errorBody'> {
  const { statusCode: status, headers, body } = answer;
  body.setEncoding('utf8');
  // Errors reach the reader. Without a listener they would end the process.
  body.on('error', release);
  body.on('close', release);
  const chunks = textsOf(body, onText);
  const retryAfter = headers['retry-after'];
  return {
    status,
    ...(typeof retryAfter === 'string' ? { retryAfter } : {}),
    stream: { chunks, close: () => void body.destroy() },
  };
}

async function* textsOf(body: Body, onText?: () => void): AsyncGenerator<string> {
  try {
    for await (const text of body) {
      onText?.();
      yield text as string;
    }
  } catch (error) {
    throw errorFromTransport(error, { isWrite: false, wasSent: true });
  }
}

async function readErrorBody(body: Body, clock: Clock, timeoutMs: number): Promise<string> {
  // An endless error body is dropped: the status is sufficient.
  let isLate = false;
  const cancelTimer = clock.after(timeoutMs, () => {
    isLate = true;
    body.destroy();
  });
  try {
    let text = '';
    for await (const chunk of textsOf(body)) {
      text += chunk;
      if (text.length > maxErrorCharacters) break;
    }
    return text;
  } catch (error) {
    if (isLate) return '';
    throw error;
  } finally {
    cancelTimer();
  }
}
