import { messageOf } from '#util/homeostat-error.ts';
import { errorCodeOf } from '#web';
import type { MessageEnd, PageMessage, WorkerMessage } from './messages.ts';

export interface PageAnswers {
  /** @throws BackendError */
  answer(question: string, body: unknown, signal: AbortSignal): Promise<unknown>;
  /** The values of a stream, until the signal aborts. @throws BackendError */
  open(body: unknown, signal: AbortSignal): AsyncIterable<unknown>;
}

/** Answers the questions of a page, and sends its streams. */
export function servePage(page: MessageEnd, answers: PageAnswers): void {
  const running = new Map<number, AbortController>();
  const send = (message: WorkerMessage) => page.postMessage(message);
  const run = (number: number, work: (signal: AbortSignal) => Promise<void>): void => {
    const stopper = new AbortController();
    running.set(number, stopper);
    work(stopper.signal)
      .catch((error: unknown) => {
        if (!stopper.signal.aborted) send({ kind: 'error', number, ...problemOf(error) });
      })
      .finally(() => running.delete(number));
  };
  page.addEventListener('message', ({ data }) => {
    const message = data as PageMessage;
    const { kind, number } = message;
    if (kind === 'stop') running.get(number)?.abort();
    else if (kind === 'ask')
      run(number, async (signal) => {
        const value = await answers.answer(message.question, message.body, signal);
        if (!signal.aborted) send({ kind: 'value', number, value });
      });
    else
      run(number, async (signal) => {
        for await (const value of answers.open(message.body, signal)) {
          if (signal.aborted) return;
          send({ kind: 'value', number, value });
        }
        if (!signal.aborted) send({ kind: 'end', number });
      });
  });
}

function problemOf(error: unknown) {
  const code = errorCodeOf(error);
  return { code, message: messageOf(error) };
}
