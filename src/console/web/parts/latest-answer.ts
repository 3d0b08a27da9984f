/** Asks a question some time after the last change of its input, and drops the answers of earlier inputs. */
export class LatestAnswer<Input, Answer> {
  readonly #ask: (input: Input, signal: AbortSignal) => Promise<Answer>;
  readonly #onAnswer: (answer: Answer | undefined, error: unknown) => void;
  #stopper = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    ask: (input: Input, signal: AbortSignal) => Promise<Answer>,
    onAnswer: (answer: Answer | undefined, error: unknown) => void,
  ) {
    this.#ask = ask;
    this.#onAnswer = onAnswer;
  }

  /** @param delayMs without another call in this time, the question is asked */
  ask(input: Input, delayMs: number): void {
    this.stop();
    this.#stopper = new AbortController();
    const { signal } = this.#stopper;
    this.#timer = setTimeout(() => {
      this.#ask(input, signal).then(
        (answer) => {
          if (!signal.aborted) this.#onAnswer(answer, undefined);
        },
        (error: unknown) => {
          if (!signal.aborted) this.#onAnswer(undefined, error);
        },
      );
    }, delayMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopper.abort();
  }
}
