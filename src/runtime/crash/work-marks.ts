import type { Clock } from '../../util/clock.ts';
import type { Mark } from './crash-history.ts';

export interface WorkMarksOptions {
  readonly clock: Clock;
  /** Stores at once, and so that it outlives the process, for whom it works; nobody: it waits. */
  readonly write: (marks: readonly Mark[]) => void;
  /** Is it to be known exactly whose work it is? Otherwise it is one of those for whom it has worked since it last waited. */
  readonly isExact: () => boolean;
}

/** Between two looks whether there is still work. */
const lookMs = 1;

/**
 * For whom the process works, written down so that the next one knows should this one end in the middle of it. A write costs
 * microseconds, and expressions are evaluated by the hundred thousand: so it is told once for each definition and stretch of work, and
 * that it waits when there was no work for some milliseconds. After a crash that is not enough to tell whose it was: then every change is written.
 */
export class WorkMarks {
  readonly #options: WorkMarksOptions;
  /** What is written. */
  #written = new Set<Mark>();
  /** For whom it works now, oldest first. Evaluations of several definitions may be under way in turn. */
  readonly #underWay: Mark[] = [];
  #isExact = false;
  #wasTouched = false;
  #cancelLook: (() => void) | undefined;

  constructor(options: WorkMarksOptions) {
    this.#options = options;
  }

  begin(mark: Mark): void {
    this.#wasTouched = true;
    if (this.#written.size === 0) this.#isExact = this.#options.isExact();
    this.#underWay.push(mark);
    if (this.#isExact) this.#showOldest();
    else if (!this.#written.has(mark)) this.#show(new Set(this.#written).add(mark));
  }

  end(mark: Mark): void {
    const index = this.#underWay.indexOf(mark);
    if (index < 0) return;
    this.#underWay.splice(index, 1);
    if (this.#isExact && this.#underWay.length > 0) this.#showOldest();
  }

  /** Says that it waits, whatever goes on: the process ends as it should. */
  clear(): void {
    this.#underWay.length = 0;
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    if (this.#written.size > 0) this.#show(new Set());
  }

  #showOldest(): void {
    const [oldest] = this.#underWay;
    if (oldest === undefined || (this.#written.size === 1 && this.#written.has(oldest))) return;
    this.#show(new Set([oldest]));
  }

  #show(marks: Set<Mark>): void {
    this.#written = marks;
    this.#options.write([...marks]);
    if (marks.size > 0) this.#lookLater();
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#options.clock.after(lookMs, () => {
      this.#cancelLook = undefined;
      const isBusy = this.#wasTouched || this.#underWay.length > 0;
      this.#wasTouched = false;
      if (isBusy) this.#lookLater();
      else this.clear();
    });
  }
}
