import type { WorkWatch } from '../../compile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { failureFields } from '../../util/failure-fields.ts';
import type { BoxFiles } from './box-files.ts';
import {
  type Crash,
  crashesToSuspend,
  type Mark,
  recent,
  suspendedUntilMs,
  windowMs,
} from './crash-history.ts';
import { WorkMarks } from './work-marks.ts';

/** A revision that is not run. */
export interface Suspension extends Mark {
  /** For people. */
  readonly message: string;
}

export interface CrashGuardOptions {
  readonly files: BoxFiles;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Knows which definitions take the process down: what the processes before left in their black boxes, what other replicas tell, and for
 * whom this one works.
 */
export class CrashGuard {
  readonly #options: CrashGuardOptions;
  readonly #marks: WorkMarks;
  readonly #known = new Map<string, Mark>();
  readonly #listeners = new Set<() => void>();
  #crashes: readonly Crash[];
  #isWritable = true;
  #cancelChange = () => {};

  constructor(options: CrashGuardOptions) {
    const { files, clock } = options;
    this.#options = options;
    this.#marks = new WorkMarks({
      clock,
      write: (marks) => this.#write(marks),
      isExact: () => this.#hasJustCrashed(),
    });
    const nowMs = clock.nowMs();
    const found = files.left.flatMap((marks) => marks.map((mark) => ({ ...mark, atMs: nowMs })));
    this.#crashes = recent([...files.crashes, ...found], nowMs);
    for (const marks of files.left) this.#tellCrash(marks);
    if (found.length > 0) this.#store();
    this.#scheduleChange();
  }

  /** The crashes that count, in order: for the status of definitions, from which other replicas learn. */
  get crashes(): readonly Crash[] {
    return this.#crashes;
  }

  /** What is not to be run now. */
  get suspensions(): readonly Suspension[] {
    const nowMs = this.#options.clock.nowMs();
    return this.#revisions().flatMap((mark) => {
      const timesMs = this.#timesOf(mark);
      const untilMs = suspendedUntilMs(timesMs);
      if (untilMs === undefined || nowMs >= untilMs) return [];
      return [{ ...mark, message: messageFor(timesMs, untilMs) }];
    });
  }

  /** Is the revision not to be worked for now? */
  isSuspended(name: string, revision: string): boolean {
    return this.suspensions.some((each) => each.name === name && each.revision === revision);
  }

  /** Calls back when {@link suspensions} may have changed. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What other processes have found out. */
  learn(crashes: readonly Crash[]): void {
    const all = recent([...this.#crashes, ...crashes], this.#options.clock.nowMs());
    if (deepEqual(all, this.#crashes)) return;
    this.#crashes = all;
    this.#store();
    this.#changed();
  }

  watchFor(name: string, revision: string): WorkWatch {
    const key = keyOf({ name, revision });
    const mark = this.#known.get(key) ?? { name, revision };
    this.#known.set(key, mark);
    return { begin: () => this.#marks.begin(mark), end: () => this.#marks.end(mark) };
  }

  /** The process ends as it should, or is to end for a reason of its own: nobody is to blame. */
  end(): void {
    this.#cancelChange();
    this.#marks.clear();
    try {
      this.#options.files.end();
    } catch (error) {
      this.#options.logger.warn(failureFields(error), 'The black box cannot be removed');
    }
  }

  /** Where the disk is full, definitions go on without a black box. */
  #write(marks: readonly Mark[]): void {
    try {
      this.#options.files.write(marks);
      this.#isWritable = true;
    } catch (error) {
      const message = 'Nobody will know for whom the process worked when it ends';
      if (this.#isWritable) this.#options.logger.warn(failureFields(error), message);
      this.#isWritable = false;
    }
  }

  #hasJustCrashed(): boolean {
    const last = this.#crashes.at(-1);
    return last !== undefined && this.#options.clock.nowMs() - last.atMs < windowMs;
  }

  #revisions(): readonly Mark[] {
    const byKey = new Map(
      this.#crashes.map(({ name, revision }) => [keyOf({ name, revision }), { name, revision }]),
    );
    return [...byKey.values()];
  }

  #timesOf(mark: Mark): readonly number[] {
    return this.#crashes.filter((each) => keyOf(each) === keyOf(mark)).map(({ atMs }) => atMs);
  }

  #tellCrash(marks: readonly Mark[]): void {
    const definitions = marks.map(({ name }) => name);
    this.#options.logger.warn({ definitions }, 'The process ended while it worked for these');
  }

  #store(): void {
    try {
      this.#options.files.store(this.#crashes);
    } catch (error) {
      this.#options.logger.warn(failureFields(error), 'Crashes cannot be written down');
    }
  }

  #changed(): void {
    this.#scheduleChange();
    for (const listener of [...this.#listeners]) listener();
  }

  /** When the next suspension is over. */
  #scheduleChange(): void {
    this.#cancelChange();
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    const ends = this.#revisions()
      .flatMap((mark) => suspendedUntilMs(this.#timesOf(mark)) ?? [])
      .filter((untilMs) => untilMs > nowMs);
    if (ends.length === 0) return;
    this.#cancelChange = clock.after(Math.min(...ends) - nowMs + 1, () => this.#changed());
  }
}

function keyOf({ name, revision }: Mark): string {
  return `${name}@${revision}`;
}

function messageFor(timesMs: readonly number[], untilMs: number): string {
  const minutes = windowMs / 60_000;
  const until = new Date(untilMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const times =
    timesMs.length === crashesToSuspend
      ? `${crashesToSuspend} times in ${minutes} minutes`
      : `${timesMs.length} times`;
  return `It took the process down ${times}. It is tried again when its text changes, or at ${until}`;
}
