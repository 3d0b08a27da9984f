import type { Priority } from '#controller';
import {
  approveDeletionsAnnotation,
  DeletionHold,
  type Preview,
  type Previewer,
  previewAll,
} from '#reconcile';
import type { Logger, LogMessage } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { errorLogFields } from '#util/homeostat-error.ts';
import type { RevisionOperator } from '../revision-operator.ts';
import type { Assignments } from './assignments.ts';
import type { PassResult } from './pass-result.ts';
import { RolloutPacer } from './rollout-pacer.ts';
import type { RolloutRecord, RolloutView } from './rollout-view.ts';

/** Maximum number of objects that hold data in the status and in a message. */
const maxDataObjects = 20;
const maxNames = 5;

/** Log events of a roll-out. */
export type RolloutEvent = 'started' | 'held' | 'approved' | 'stopped' | 'resumed' | 'finished';

export interface RolloutOptions {
  /** Its newest revision is rolled out to the assigned resources. */
  readonly assignments: Assignments;
  /** The oldest revision of its resources. */
  readonly from: string;
  /** Resources that may lose children: the assigned ones, and others whose older revision is unknown. */
  readonly guarded: readonly string[];
  /** Unfinished roll-out of another process. @default undefined: a new roll-out */
  readonly resumed: RolloutRecord | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Enqueues in the definition's work queue. */
  readonly enqueue: (key: string, priority: Priority) => void;
  /** Called with each event, which is logged. */
  readonly onEvent: (event: RolloutEvent) => void;
  /** The view may have changed. */
  readonly onChange: () => void;
  /** Every resource has completed a pass with the newer revision. */
  readonly onReached: () => void;
}

/** Rolls out one revision: previews its deletions, then reaches one resource after the other. */
export class Rollout {
  readonly #options: RolloutOptions;
  readonly #to: RevisionOperator;
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
    const { assignments, guarded, resumed, clock, enqueue } = options;
    const to = assignments.newest;
    this.#to = to;
    const { perSecond, stopAfterFailures, maxDeletions } = to.definition.controller.rollout;
    this.#hold = new DeletionHold({
      revision: to.revision,
      maxDeletions,
      keys: guarded,
      onChange: () => this.#update(),
      onAllowed: (key) => enqueue(key, 'normal'),
    });
    this.#pacer = new RolloutPacer({
      keys: assignments.keys,
      perSecond,
      stopAfterFailures,
      ...(resumed && {
        resumed: {
          failing: keysOf(to, resumed.failed),
          isStopped: resumed.state === 'stopped',
        },
      }),
      clock,
      isPending: (key) => assignments.isPending(key),
      reach: (key) => assignments.reach(key),
      onStopped: () => this.#emit('stopped'),
      onResumed: () => this.#emit('resumed'),
      onDone: () => this.#finish(),
    });
    if (guarded.length > 0) to.operator.guardDeletions(this.#hold);
  }

  /** False: there is nothing to roll out, or it has finished and holds no deletions. */
  get isActive(): boolean {
    return this.#options.guarded.length > 0 && (!this.#isReached || this.state === 'held');
  }

  /** Whether it has finished and can hold no deletions any more. */
  get isOver(): boolean {
    return this.#isReached && this.#hold.state === 'over';
  }

  /** Undefined: not active. */
  get view(): RolloutView | undefined {
    if (!this.isActive) return undefined;
    const { state, failed } = this;
    const { from, guarded, assignments } = this.#options;
    const { revision: to } = this.#to;
    const total = guarded.length;
    const reached = this.#isReached ? total : total - assignments.size;
    const { deletions } = this.#hold;
    const dataObjects = this.#hold.dataObjects.slice(0, maxDataObjects);
    const message = `${reached} of ${total} resources have revision ${to}${this.#reasonText(state)}`;
    const counts = { reached, total, deletions };
    return {
      from,
      to,
      state,
      ...counts,
      ...(dataObjects.length > 0 && { dataObjects }),
      failed,
      message,
    };
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
    return [...this.#pacer.failing]
      .flatMap((key) => this.#to.operator.resource(key)?.metadata.uid ?? [])
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
    const { guarded, clock, logger } = this.#options;
    const { signal } = this.#aborter;
    try {
      if (guarded.length > 0) {
        const previewer = this.#to.operator.startPreview();
        this.#previewer = previewer;
        const onPreview = (key: string, { deletes }: Preview) => this.#hold.expect(key, deletes);
        await previewAll({ previewer, keys: guarded, clock, signal, onPreview });
      }
    } catch (error) {
      if (signal.aborted) return;
      // Without a preview: passes count deletions.
      logger.error(errorLogFields(error), 'Preview failed');
    }
    this.#isPreviewed = true;
    this.#hold.decide();
    this.#update();
  }

  #reasonText(state: RolloutView['state']): string {
    const { revision } = this.#to;
    switch (state) {
      case 'previewing':
        return this.#hasStarted ? '; previewing deletions' : '; not started';
      case 'held':
        if (this.#isHeldUntilPreviewed) return '; held until its deletions are previewed again';
        return `; it would delete ${this.#deletionsText}; to approve, annotate the definition with ${approveDeletionsAnnotation}: ${revision}`;
      case 'stopped':
        return `; stopped because ${this.#pacer.failing.size} resources fail with it that did not fail before`;
      case 'rolling':
        return '';
    }
  }

  /** `12 objects, more than maxDeletions (10)`, and the objects that hold data. */
  get #deletionsText(): string {
    const { deletions, dataObjects } = this.#hold;
    const { maxDeletions } = this.#to.definition.controller.rollout;
    const count = deletions === 1 ? '1 object' : `${deletions} objects`;
    const limit = deletions > maxDeletions ? `, more than maxDeletions (${maxDeletions})` : '';
    const data = dataObjects.length === 0 ? '' : `, with the data of ${listText(dataObjects)}`;
    return `${count}${limit}${data}`;
  }

  #emit(event: RolloutEvent): void {
    const { view } = this;
    const { logger, onEvent, onChange } = this.#options;
    if (view !== undefined) {
      logRollout(logger, event, view);
      onEvent(event);
    }
    onChange();
  }

  /** Starts or holds the pacer according to the deletions. */
  #update(): void {
    this.#options.onChange();
    if (this.#hold.state === 'over') this.#to.operator.guardDeletions(undefined);
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

/** The first names of a list, and how many more there are. */
function listText(names: readonly string[]): string {
  const more = names.length - maxNames;
  const shown = names.slice(0, maxNames).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

const messages: Readonly<Record<RolloutEvent, LogMessage>> = {
  started: 'Roll-out started',
  held: 'Roll-out held, its deletions need approval',
  approved: 'Deletions of the roll-out approved',
  stopped: 'Roll-out stopped, too many resources fail',
  resumed: 'Roll-out resumed',
  finished: 'Roll-out finished',
};

function logRollout(logger: Logger, event: RolloutEvent, view: RolloutView): void {
  const { from, to, reached, total, deletions, message } = view;
  const about = { from, to, reached, total, ...(deletions > 0 && { deletions }) };
  const isTrouble = event === 'stopped' || event === 'held';
  if (isTrouble) logger.warn({ ...about, reason: message }, messages[event]);
  else logger.info(about, messages[event]);
}
