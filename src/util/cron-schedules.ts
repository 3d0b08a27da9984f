import { type CronSchedule, parseCron } from './cron.ts';

/** The text may come from users of a resource. */
const maxLength = 128;
const mostSchedules = 200;

/** Cron schedules of one time zone. Those of the last texts are kept: the platform needs long for a time zone, and resources share schedules. */
export class CronSchedules {
  readonly #timeZone: string;
  readonly #schedules = new Map<string, CronSchedule>();

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  /** Undefined: the text is no cron expression. The parser's message repeats it, and it may come from a Secret. */
  get(text: string): CronSchedule | undefined {
    const known = this.#schedules.get(text);
    if (known !== undefined || text.length > maxLength) return known;
    const schedule = this.#parse(text);
    if (schedule === undefined) return undefined;
    if (this.#schedules.size >= mostSchedules) this.#schedules.clear();
    this.#schedules.set(text, schedule);
    return schedule;
  }

  #parse(text: string): CronSchedule | undefined {
    try {
      return parseCron(text, this.#timeZone);
    } catch {
      return undefined;
    }
  }
}
