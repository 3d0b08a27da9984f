import {
  approveDeletionsAnnotation,
  DeletionHold,
  type Preview,
  type Previewer,
  previewAll,
} from '../../reconcile/index.ts';
import type { Logger, LogMessage } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { RolloutRecord, RolloutView } from '../definition-view.ts';
import type { RevisionOperator } from './revision-operator.ts';
import { type PassResult, RolloutPacer } from './rollout-pacer.ts';

/** Log events of a roll-out. */
export type RolloutEvent = 'started' | 'held' | 'approved' | 'stopped' | 'resumed' | 'finished';

export interface RolloutOptions {
  readonly to: RevisionOperator;
  /** The oldest revision of its resources. */
  readonly from: string;
  /** Resources to reach, in order. */
  readonly keys: readonly string[];
  /** Resources that may lose children: `keys`, and others whose older revision is unknown. */
  readonly guarded: readonly string[];
  /** Unfinished roll-out of another process. @default undefined: a new roll-out */
  readonly resumed: RolloutRecord | undefined;
  readonly clock: Clock;
  /** Whether the roll-out still has to reach the resource. */
  readonly isPending: (key: string) => boolean;
  /** Number of pending resources. */
  readonly pending: () => number;
  /** Assigns the newer revision. */
  readonly reach: (key: string) => { readonly failedBefore: boolean };
  /** Enqueues a resource whose deletions were held. */
  readonly enqueue: (key: string) => void;
  readonly onEvent: (event: RolloutEvent, view: RolloutView) => void;
  readonly onChange: () => void;
  /** Every resource has completed a pass with the newer revision. */
  readonly onReached: () => void;
  /** Called when a preview throws an unexpected error. */
  readonly onPreviewError: (error: unknown) => void;
}

/** Rolls out one revision: previews its deletions, then reaches one resource after the other. */
export class Rollout {
  readonly #options: RolloutOptions;
  readonly #hold: DeletionHold;
  readonly #pacer: RolloutPacer;
  readonly #aborter = new AbortController();
  #previewer: Previewer | undefined;
  #isPreviewed = false;
  #isHeld = false;
  #hasStarted = false;
  #isReached = false;

  constructor(options: RolloutOptions) {
    this.#options = options;
    const { to, keys, guarded, resumed, clock, isPending } = options;
    const { perSecond, stopAfterFailures, maxDeletions } = to.settings;
    const onChange = () => this.#update();
    this.#hold = new DeletionHold({
      revision: to.revision,
      maxDeletions,
      keys: guarded,
      onChange,
      onAllowed: options.enqueue,
    });
    this.#pacer = new RolloutPacer({
      keys,
      perSecond,
      stopAfterFailures,
      ...(resumed && {
        resumed: {
          failing: keysOf(to, resumed.failed),
          isStopped: resumed.state === 'stopped',
        },
      }),
      clock,
      isPending,
      reach: options.reach,
      onStopped: () => this.#emit('stopped'),
      onResumed: () => this.#emit('resumed'),
      onDone: () => this.#finish(),
    });
    to.setGuard(this.#hold);
  }

  /** Undefined: finished. */
  get view(): RolloutView | undefined {
    const { state } = this;
    if (this.#isReached && state !== 'held') return undefined;
    const { to, from, guarded, pending } = this.#options;
    const total = guarded.length;
    if (total === 0) return undefined;
    const reached = this.#isReached ? total : total - pending();
    const { deletions } = this.#hold;
    const message = `${reached} of ${total} resources have revision ${to.revision}${this.#reasonText(state)}`;
    const { failed } = this;
    return { from, to: to.revision, state, reached, total, deletions, failed, message };
  }

  get state(): RolloutView['state'] {
    if (this.#hold.state === 'held' || this.#isHeldUntilPreviewed) return 'held';
    if (this.#pacer.isStopped) return 'stopped';
    return this.#isPreviewed ? 'rolling' : 'previewing';
  }

  /** Held by an earlier process; the preview has not finished. */
  get #isHeldUntilPreviewed(): boolean {
    return this.#options.resumed?.state === 'held' && this.#hold.state === 'unknown';
  }

  /** UIDs. */
  get failed(): readonly string[] {
    const { to } = this.#options;
    return [...this.#pacer.failing]
      .flatMap((key) => to.operator.resource(key)?.metadata.uid ?? [])
      .sort();
  }

  /** Starts, once. */
  start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    if (this.#options.guarded.length > 0) this.#emit(this.#pacer.isStopped ? 'stopped' : 'started');
    void this.#preview();
  }

  /** Approves the deletions of a revision; `undefined` revokes the approval. */
  approve(revision: string | undefined): void {
    const before = this.#hold.state;
    this.#hold.approve(revision);
    const { state } = this.#hold;
    if (state === before) return;
    if (before === 'held') {
      this.#isHeld = false;
      this.#emit('approved');
    }
    this.#update();
  }

  /** Whether {@link passEnded} needs the results of this resource. */
  watches(key: string): boolean {
    return this.#pacer.watches(key);
  }

  passEnded(key: string, result: PassResult): void {
    this.#pacer.passEnded(key, result);
    this.#options.onChange();
  }

  /** Call when the resource is deleted or being deleted: its deletions do not count. */
  forget(key: string): void {
    this.#hold.forget(key);
    this.#update();
  }

  /** Stops the roll-out and its preview. Held deletions stay held. */
  stop(): void {
    this.#aborter.abort(new Error('The roll-out has ended'));
    this.#pacer.stop();
    this.#previewer?.stop();
    this.#previewer = undefined;
  }

  async #preview(): Promise<void> {
    const { to, guarded, clock, onPreviewError: onBug } = this.#options;
    const { signal } = this.#aborter;
    try {
      if (guarded.length > 0) {
        const previewer = to.operator.startPreview();
        this.#previewer = previewer;
        const onPreview = (key: string, { deletes }: Preview) => this.#hold.expect(key, deletes);
        await previewAll({ previewer, keys: guarded, clock, signal, onPreview });
      }
    } catch (error) {
      if (signal.aborted) return;
      // Without a preview: passes count deletions.
      onBug(error);
    }
    this.#isPreviewed = true;
    this.#hold.decide();
    this.#update();
  }

  #reasonText(state: RolloutView['state']): string {
    const { deletions } = this.#hold;
    const { to } = this.#options;
    switch (state) {
      case 'previewing':
        return this.#hasStarted ? '; previewing deletions' : '; not started';
      case 'held':
        if (this.#isHeldUntilPreviewed) return '; held until its deletions are previewed again';
        return `; it would delete ${deletions} objects, more than maxDeletions (${to.settings.maxDeletions}); to approve, annotate the definition with ${approveDeletionsAnnotation}: ${to.revision}`;
      case 'stopped':
        return `; stopped because ${this.#pacer.failing.size} resources fail with it that did not fail before`;
      case 'rolling':
        return '';
    }
  }

  #emit(event: RolloutEvent): void {
    const { view } = this;
    if (view !== undefined) this.#options.onEvent(event, view);
    this.#options.onChange();
  }

  /** Starts or holds the pacer according to the deletions. */
  #update(): void {
    this.#options.onChange();
    if (!this.#isPreviewed || this.#aborter.signal.aborted) return;
    const wasHeld = this.#isHeld;
    this.#isHeld = this.#hold.state === 'held';
    if (this.#isHeld !== wasHeld) this.#emit(wasHeld ? 'resumed' : 'held');
    if (this.#isHeld) this.#pacer.hold();
    else this.#pacer.start();
  }

  #finish(): void {
    this.#emit('finished');
    this.#isReached = true;
    this.#previewer?.stop();
    this.#previewer = undefined;
    this.#options.onReached();
  }
}

/** Keys of the resources with these UIDs. */
function keysOf(revisionOperator: RevisionOperator, uids: readonly string[]): readonly string[] {
  const desired = new Set<string | undefined>(uids);
  return Array.from(revisionOperator.resources())
    .filter(([, { metadata }]) => desired.has(metadata.uid))
    .map(([key]) => key);
}

const messages: Readonly<Record<RolloutEvent, LogMessage>> = {
  started: 'Roll-out started',
  held: 'Roll-out held, its deletions need approval',
  approved: 'Deletions of the roll-out approved',
  stopped: 'Roll-out stopped, too many resources fail',
  resumed: 'Roll-out resumed',
  finished: 'Roll-out finished',
};

/** Logs an event of a roll-out. */
export function logRollout(logger: Logger, event: RolloutEvent, view: RolloutView): void {
  const { from, to, reached, total, deletions, message } = view;
  const about = { from, to, reached, total, ...(deletions > 0 && { deletions }) };
  const isTrouble = event === 'stopped' || event === 'held';
  if (isTrouble) logger.warn({ ...about, reason: message }, messages[event]);
  else logger.info(about, messages[event]);
}
