import { orAborted } from '../../util/or-aborted.ts';

/**
 * May what is wanted be of before? So it is from the moment on in which somebody doubts what he has told, until it has been decided anew
 * with nobody in doubt.
 */
export class Doubts {
  readonly #onChange: (isInDoubt: boolean) => void;
  readonly #doubting = new Set<unknown>();
  /** Resolves when it is sure again. Undefined: it is. */
  #sure: PromiseWithResolvers<void> | undefined;

  /** `onChange` is called when {@link isInDoubt} changes. */
  constructor(onChange: (isInDoubt: boolean) => void) {
    this.#onChange = onChange;
  }

  get isInDoubt(): boolean {
    return this.#sure !== undefined;
  }

  /** Does somebody doubt just now? Then there is nothing to decide by. */
  get areOpen(): boolean {
    return this.#doubting.size > 0;
  }

  note(who: unknown, isInDoubt: boolean): void {
    if (!isInDoubt) {
      this.#doubting.delete(who);
      return;
    }
    this.#doubting.add(who);
    if (this.#sure !== undefined) return;
    this.#sure = Promise.withResolvers();
    this.#onChange(true);
  }

  /** What is wanted has been decided. Returns what tells those who wait, if that has ended a doubt; to be called when all know what it is. */
  decided(): (() => void) | undefined {
    const sure = this.#sure;
    if (this.areOpen || sure === undefined) return undefined;
    this.#sure = undefined;
    return () => {
      this.#onChange(this.isInDoubt);
      sure.resolve();
    };
  }

  /** Resolves when it is not in doubt; rejects when the signal aborts. */
  async whenSure(signal: AbortSignal): Promise<void> {
    while (this.#sure !== undefined) await orAborted(this.#sure.promise, signal);
  }
}
