import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type StoredObject, storeKey } from '../store/stored-object.ts';
import { type ControllerClient, numberOf, partOf } from './controller-client.ts';
import { jobs } from './job-controller.ts';
import { controlledObjects, controllerReference } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';

export const cronJobs = 'batch/cronjobs';

const minuteMs = 60_000;
const timeAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** Creates Jobs on schedule. Checks each minute once, while it lasts: missed minutes are skipped. */
export class CronJobController {
  readonly #client: ControllerClient;
  readonly #requeueAfter: (key: string, ms: number) => void;
  /** The last minute that was checked for each CronJob, by key. */
  readonly #checkedMinutes = new Map<string, number>();

  constructor(client: ControllerClient, requeueAfter: (key: string, ms: number) => void) {
    this.#client = client;
    this.#requeueAfter = requeueAfter;
  }

  reconcile(key: string): void {
    const place = { collection: cronJobs, key };
    const cron = this.#client.find(place);
    if (cron === undefined || isTerminating(cron)) {
      this.#checkedMinutes.delete(key);
      return;
    }
    const nowMs = this.#client.clock.nowMs();
    const minute = Math.floor(nowMs / minuteMs);
    const seen = this.#checkedMinutes.get(key);
    if (seen !== minute) this.#requeueAfter(key, (minute + 1) * minuteMs - nowMs);
    this.#checkedMinutes.set(key, minute);
    // The minute of its creation does not count: it has begun already.
    if (seen !== undefined && seen < minute) this.#start(cron, minute);
    this.#prune(cron);
    this.#client.writeStatus(place, this.#status(cron));
  }

  #start(cron: StoredObject, minute: number): void {
    const spec = partOf(cron, 'spec');
    const schedule = parseCronSchedule(stringField(spec, 'schedule') ?? '');
    const time = timeIn(minute * minuteMs, stringField(spec, 'timeZone') ?? 'UTC');
    if (spec.suspend === true || schedule?.(time) !== true) return;
    const active = this.#jobs(cron).filter((job) => finishedCondition(job) === undefined);
    if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) return;
    if (spec.concurrencyPolicy === 'Replace')
      for (const job of active) this.#client.delete({ collection: jobs, key: job.key });
    const name = `${cron.name}-${minute}`;
    if (this.#client.find({ collection: jobs, key: storeKey(cron.namespace, name) })) return;
    const template = objectField(spec, 'jobTemplate') ?? {};
    const metadata = objectField(template, 'metadata') ?? {};
    this.#client.create(jobs, cron.namespace, {
      metadata: {
        name,
        ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
        annotations: {
          ...objectField(metadata, 'annotations'),
          [timeAnnotation]: new Date(minute * minuteMs).toISOString().replace('.000', ''),
        },
        ownerReferences: [controllerReference(cron)],
      },
      spec: objectField(template, 'spec') ?? {},
    });
    this.#client.recordEvent(cron, {
      component: 'cronjob-controller',
      reason: 'SuccessfulCreate',
      message: `Created job ${name}`,
    });
  }

  /** Deletes finished Jobs beyond the history limits. */
  #prune(cron: StoredObject): void {
    const spec = partOf(cron, 'spec');
    for (const [end, field, limit] of [
      ['Complete', 'successfulJobsHistoryLimit', 3],
      ['Failed', 'failedJobsHistoryLimit', 1],
    ] as const) {
      const finished = this.#jobs(cron).filter((job) => finishedCondition(job) === end);
      for (const job of finished.slice(
        0,
        Math.max(finished.length - numberOf(spec, field, limit), 0),
      ))
        this.#client.delete({ collection: jobs, key: job.key });
    }
  }

  /** In the order of creation. */
  #jobs(cron: StoredObject): readonly StoredObject[] {
    return controlledObjects(this.#client, jobs, cron).filter((job) => !isTerminating(job));
  }

  #status(cron: StoredObject): JsonObject {
    const owned = this.#jobs(cron);
    const times = owned.map((job) => {
      const annotations = objectField(partOf(job, 'metadata'), 'annotations') ?? {};
      return stringField(annotations, timeAnnotation) ?? '';
    });
    const finishTimes = owned.map(
      (job) => stringField(partOf(job, 'status'), 'completionTime') ?? '',
    );
    const old = partOf(cron, 'status');
    const latest = (found: readonly string[], before: string | undefined) =>
      [...found, before ?? ''].sort().at(-1) ?? '';
    const scheduled = latest(times, stringField(old, 'lastScheduleTime'));
    const succeeded = latest(finishTimes, stringField(old, 'lastSuccessfulTime'));
    const active = owned.filter((job) => finishedCondition(job) === undefined);
    return {
      ...(active.length === 0 ? {} : { active: active.map(referenceTo) }),
      ...(scheduled === '' ? {} : { lastScheduleTime: scheduled }),
      ...(succeeded === '' ? {} : { lastSuccessfulTime: succeeded }),
    };
  }
}

function finishedCondition(job: StoredObject): 'Complete' | 'Failed' | undefined {
  const conditions = listField(partOf(job, 'status'), 'conditions').filter(isJsonObject);
  return (['Complete', 'Failed'] as const).find((end) =>
    conditions.some(({ type, status }) => type === end && status === 'True'),
  );
}

function referenceTo(job: StoredObject): JsonObject {
  const { uid, resourceVersion } = partOf(job, 'metadata');
  return {
    kind: 'Job',
    namespace: job.namespace,
    name: job.name,
    uid,
    apiVersion: 'batch/v1',
    resourceVersion,
  };
}

/** A time in a time zone. */
function timeIn(ms: number, timeZone: string): CronTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    minute: 'numeric',
    hour: 'numeric',
    day: 'numeric',
    month: 'numeric',
    weekday: 'short',
  });
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  return {
    minute: number('minute'),
    hour: number('hour'),
    day: number('day'),
    month: number('month'),
    weekday: ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'].indexOf(parts.get('weekday') ?? ''),
  };
}

/** Returns whether a time matches the schedule. */
type CronSchedule = (time: CronTime) => boolean;

export interface CronTime {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  /** 1 = January. */
  readonly month: number;
  /** 0 = Sunday. */
  readonly weekday: number;
}

const names: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Parses `*\/5 8-18 * * mon-fri`, `@hourly`; undefined when the text is not a schedule. */
export function parseCronSchedule(text: string): CronSchedule | undefined {
  const fields = (names[text.trim()] ?? text).trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = [
    parseField(fields[0], 0, 59),
    parseField(fields[1], 0, 23),
    parseField(fields[2], 1, 31),
    parseField(named(fields[3], months, 1), 1, 12),
    parseField(named(fields[4], weekdays, 0), 0, 7),
  ];
  if (fields.length !== 5 || !minute || !hour || !day || !month || !weekday) return undefined;
  // When both day fields are restricted, either may match.
  const matchesEitherDay = !isUnrestricted(fields[2]) && !isUnrestricted(fields[4]);
  return (time) => {
    const onDay = day.has(time.day);
    const onWeekday = weekday.has(time.weekday) || (time.weekday === 0 && weekday.has(7));
    const isToday = matchesEitherDay ? onDay || onWeekday : onDay && onWeekday;
    return minute.has(time.minute) && hour.has(time.hour) && month.has(time.month) && isToday;
  };
}

function isUnrestricted(field = ''): boolean {
  return field.startsWith('*') || field === '?';
}

function named(field: string | undefined, list: readonly string[], first: number) {
  return field?.toLowerCase().replaceAll(/[a-z]{3}/g, (name) => {
    const index = list.indexOf(name);
    return index < 0 ? name : String(index + first);
  });
}

/** `*`, `1,2`, `1-5`, `*\/2`, `1-9/3`. */
function parseField(field: string | undefined, least: number, most: number) {
  const values = new Set<number>();
  for (const part of (field ?? '').split(',')) {
    const match = /^(?:\*|\?|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const [, from, to, step] = match;
    const start = from === undefined ? least : Number(from);
    const end = to !== undefined ? Number(to) : from === undefined || step ? most : start;
    const by = Number(step ?? 1);
    if (start < least || end > most || start > end || by < 1) return undefined;
    for (let value = start; value <= end; value += by) values.add(value);
  }
  return values;
}
