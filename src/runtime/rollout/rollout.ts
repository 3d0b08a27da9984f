import {
  approveDeletionsAnnotation,
  DeletionHold,
  type Preview,
  type Previewer,
  previewAll,
} from '../../reconcile/index.ts';
import type { Clock } from '../../util/clock.ts';
import type { RolloutView } from '../definition-view.ts';
import type { Edition } from './edition.ts';
import { Pace, type Verdict } from './pace.ts';

/** How a roll-out has gone on, for the log. */
export type RolloutNews = 'begun' | 'held' | 'approved' | 'stopped' | 'resumed' | 'ended';

export interface RolloutOptions {
  readonly to: Edition;
  /** The revision that the first of its resources have. */
  readonly from: string;
  /** Those that are to be reached, in order. */
  readonly keys: readonly string[];
  /** Those that it may take something from: these, and others that have an older revision that nobody knows any more. */
  readonly guarded: readonly string[];
  readonly clock: Clock;
  /** Has the resource an older revision still? */
  readonly isPending: (key: string) => boolean;
  /** How many have. */
  readonly pending: () => number;
  /** Gives the resource the newer revision. */
  readonly reach: (key: string) => { readonly failedBefore: boolean };
  /** Runs a resource whose deletions were held. */
  readonly wake: (key: string) => void;
  readonly onNews: (news: RolloutNews, view: RolloutView) => void;
  readonly onChange: () => void;
  /** All are reached, and each has been seen with the newer revision. */
  readonly onReached: () => void;
  /** A preview has thrown what nobody foresaw. */
  readonly onBug: (error: unknown) => void;
}

/** Brings one revision to the resources that are there: looks ahead at what it deletes, then reaches one after the other. */
export class Rollout {
  readonly #options: RolloutOptions;
  readonly #hold: DeletionHold;
  readonly #pace: Pace;
  readonly #ending = new AbortController();
  #previewer: Previewer | undefined;
  #isPreviewed = false;
  #isHeld = false;
  #hasBegun = false;
  #isReached = false;

  constructor(options: RolloutOptions) {
    this.#options = options;
    const { to, keys, guarded, clock, isPending } = options;
    const { perSecond, stopAfterFailures, maxDeletions } = to.settings;
    const onChange = () => this.#weigh();
    this.#hold = new DeletionHold({
      revision: to.revision,
      maxDeletions,
      keys: guarded,
      onChange,
      onLetGo: options.wake,
    });
    this.#pace = new Pace({
      keys,
      perSecond,
      stopAfterFailures,
      clock,
      isPending,
      reach: options.reach,
      onStopped: () => this.#tell('stopped'),
      onResumed: () => this.#tell('resumed'),
      onDone: () => this.#whenReached(),
    });
    to.guard(this.#hold);
  }

  /** Undefined: there is nothing to tell any more. */
  get view(): RolloutView | undefined {
    const { state } = this;
    if (this.#isReached && state !== 'held') return undefined;
    const { to, from, guarded, pending } = this.#options;
    const total = guarded.length;
    if (total === 0) return undefined;
    const reached = this.#isReached ? total : total - pending();
    const { deletions } = this.#hold;
    const message = `${reached} of ${total} resources have revision ${to.revision}${this.#why(state)}`;
    return { from, to: to.revision, state, reached, total, deletions, message };
  }

  get state(): RolloutView['state'] {
    if (this.#hold.state === 'held') return 'held';
    if (!this.#isPreviewed) return 'previewing';
    return this.#pace.isStopped ? 'stopped' : 'rolling';
  }

  /** Begins, once. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (this.#options.guarded.length > 0) this.#tell('begun');
    void this.#preview();
  }

  /** A user has approved the deletions of a revision, or takes that back (undefined). */
  approve(revision: string | undefined): void {
    const before = this.#hold.state;
    this.#hold.approve(revision);
    const { state } = this.#hold;
    if (state === before) return;
    if (before === 'held') {
      this.#isHeld = false;
      this.#tell('approved');
    }
    this.#weigh();
  }

  /** Is it of interest how passes of this resource end? */
  watches(key: string): boolean {
    return this.#pace.watches(key);
  }

  passEnded(key: string, verdict: Verdict): void {
    this.#pace.passEnded(key, verdict);
    this.#options.onChange();
  }

  /** The resource is gone or being deleted: what goes with it is not the change's doing. */
  forget(key: string): void {
    this.#hold.forget(key);
    this.#weigh();
  }

  /** Reaches nothing more, and looks at nothing more. What is held stays held. */
  end(): void {
    this.#ending.abort(new Error('The roll-out is over'));
    this.#pace.end();
    this.#previewer?.stop();
    this.#previewer = undefined;
  }

  async #preview(): Promise<void> {
    const { to, guarded, clock, onBug } = this.#options;
    const { signal } = this.#ending;
    try {
      if (guarded.length > 0) {
        const previewer = to.operator.startPreview();
        this.#previewer = previewer;
        const onPreview = (key: string, { deletes }: Preview) => this.#hold.expect(key, deletes);
        await previewAll({ previewer, keys: guarded, clock, signal, onPreview });
      }
    } catch (error) {
      if (signal.aborted) return;
      // Passes count what they come upon.
      onBug(error);
    }
    this.#isPreviewed = true;
    this.#hold.decide();
    this.#weigh();
  }

  #why(state: RolloutView['state']): string {
    const { deletions } = this.#hold;
    const { to } = this.#options;
    switch (state) {
      case 'previewing':
        return this.#hasBegun ? '; what it deletes is being looked at' : '; it has not begun';
      case 'held':
        return `; it deletes ${deletions} objects, and more than ${to.settings.maxDeletions} are to be approved (annotation ${approveDeletionsAnnotation}: ${to.revision})`;
      case 'stopped':
        return `; it has stopped, for ${this.#pace.failing.size} fail with it that did not before`;
      case 'rolling':
        return '';
    }
  }

  #tell(news: RolloutNews): void {
    const { view } = this;
    if (view !== undefined) this.#options.onNews(news, view);
    this.#options.onChange();
  }

  /** Goes on or waits, as far as deletions are concerned. */
  #weigh(): void {
    this.#options.onChange();
    if (!this.#isPreviewed || this.#ending.signal.aborted) return;
    const wasHeld = this.#isHeld;
    this.#isHeld = this.#hold.state === 'held';
    if (this.#isHeld !== wasHeld) this.#tell(wasHeld ? 'resumed' : 'held');
    if (this.#isHeld) this.#pace.hold();
    else this.#pace.start();
  }

  #whenReached(): void {
    this.#tell('ended');
    this.#isReached = true;
    this.#previewer?.stop();
    this.#previewer = undefined;
    this.#options.onReached();
  }
}
