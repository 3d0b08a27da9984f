import { Doubt } from './doubt.ts';
import type { Reachability } from './reachability.ts';

/** How a watch ended that was open: when it was to (or we ended it), before its time, or with its connection. */
export type WatchEnd = 'agreed' | 'early' | 'broken';

export interface ContactOptions {
  readonly reachability: Reachability;
  /** Told when {@link Doubt.isOutdated} changes. */
  readonly onOutdated: () => void;
  /** Told when the server answers that had not. */
  readonly onAnswer: () => void;
}

/** An informer's contact with the server: is it there, is it the one we know? */
export class Contact {
  readonly doubt: Doubt;
  readonly #reachability: Reachability;
  readonly #onAnswer: () => void;
  #isWatching = false;
  /** Got no answer, or lost its connection, and had none since. */
  #isSilent = false;

  constructor({ reachability, onOutdated, onAnswer }: ContactOptions) {
    this.#reachability = reachability;
    this.#onAnswer = onAnswer;
    this.doubt = new Doubt(onOutdated);
  }

  /** Another informer of the cluster has found that the server does not answer. */
  noteOutage(): void {
    this.doubt.noteOutage({ isWatching: this.#isWatching });
  }

  watchOpened(): void {
    this.#isWatching = true;
    this.#reachability.opened(this);
    this.answered();
  }

  watchEnded(how: WatchEnd): void {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    const isLast = this.#reachability.closed(this);
    // All connections broke: that is the server, not a connection.
    if (isLast && how === 'broken') this.#noteLost();
    const { isLost } = this.#reachability;
    this.doubt.noteEnd({ isAsAgreed: how === 'agreed', isLost });
  }

  /** A connection broke. `isAttempt`: while the server was asked for a list or a watch. */
  broke({ isAttempt }: { readonly isAttempt: boolean }): void {
    this.#isSilent = true;
    if (!isAttempt) return;
    this.doubt.raise('outage');
    this.#noteLost();
  }

  answered(): void {
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#onAnswer();
    this.#reachability.found(this);
  }

  /** The informer ends. */
  end(): void {
    this.#reachability.left(this);
  }

  #noteLost(): void {
    this.#isSilent = true;
    this.#reachability.lost(this);
  }
}
