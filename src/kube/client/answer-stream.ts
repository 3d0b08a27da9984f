import type { Dispatcher } from 'undici';
import type { Clock } from '../../util/clock.ts';
import { abortedError, errorOfTransport, timeoutError } from '../errors.ts';
import type { ApiStream } from './api-client.ts';

/** A refusal longer than this is cut; Status bodies are far shorter. */
const maxRefusalCharacters = 65_536;

export interface StreamRequest {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Until the head of the answer, and again until the end of a refusal; there is no limit for the rest. */
  readonly headTimeoutMs: number;
  /** Called whenever something of the body comes. */
  readonly onText?: () => void;
}

/** The head of an answer whose body is still to come. */
export interface OpenedStream {
  readonly status: number;
  readonly retryAfter?: string;
  /** The rest as it comes. */
  readonly stream: ApiStream;
  /** The body of a refusal, and the end of the answer. Empty when it does not come to its end in time. */
  refusal(): Promise<string>;
}

type Body = Dispatcher.ResponseData['body'];

/**
 * Opens a GET whose answer is read bit by bit. The signal is listened to until the answer ends.
 * @throws KubeError when there is no head of an answer.
 */
export async function openStream(
  request: StreamRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<OpenedStream> {
  if (signal.aborted) throw abortedError(signal.reason);
  // A signal of our own: undici's listeners go with it, and the caller's, which may live for ever, has one.
  const cut = new AbortController();
  const onAbort = () => cut.abort(abortedError(signal.reason));
  signal.addEventListener('abort', onAbort, { once: true });
  const release = () => signal.removeEventListener('abort', onAbort);
  try {
    const answer = await readHead(request, clock, cut);
    const refusal = () => readRefusal(answer.body, clock, request.headTimeoutMs);
    return { ...openedStream(answer, release, request.onText), refusal };
  } catch (error) {
    release();
    throw errorOfTransport(error, { isWrite: false, wasSent: true });
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
    // undici notices an abort only when the connection is there: nobody should wait for that.
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
): Omit<OpenedStream, 'refusal'> {
  const { statusCode: status, headers, body } = answer;
  body.setEncoding('utf8');
  // Errors reach whoever reads; without a reader they would take the process down.
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
    throw errorOfTransport(error, { isWrite: false, wasSent: true });
  }
}

async function readRefusal(body: Body, clock: Clock, timeoutMs: number): Promise<string> {
  // A refusal that never ends tells by its status alone: nobody else watches over this answer.
  let isLate = false;
  const cancelTimer = clock.after(timeoutMs, () => {
    isLate = true;
    body.destroy();
  });
  try {
    let text = '';
    for await (const chunk of textsOf(body)) {
      text += chunk;
      if (text.length > maxRefusalCharacters) break;
    }
    return text;
  } catch (error) {
    if (isLate) return '';
    throw error;
  } finally {
    cancelTimer();
  }
}
