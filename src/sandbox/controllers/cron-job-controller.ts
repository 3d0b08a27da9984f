import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type StoredObject, storeKey } from '../store/index.ts';
import { type ControllerWorld, numberOf, partOf } from './controller-world.ts';
import { type CronTime, parseCronSchedule } from './cron-schedule.ts';
import { jobs } from './job-controller.ts';
import { controlledBy, controllerReference } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';

export const cronJobs = 'batch/cronjobs';

const minuteMs = 60_000;
const timeAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** Makes Jobs when their time has come. Looks at each minute once, while it lasts: those that were missed are left out. */
export class CronJobController {
  readonly #world: ControllerWorld;
  readonly #again: (key: string, ms: number) => void;
  /** The minute up to which a CronJob has been looked at, by key. */
  readonly #seen = new Map<string, number>();

  constructor(world: ControllerWorld, again: (key: string, ms: number) => void) {
    this.#world = world;
    this.#again = again;
  }

  reconcile(key: string): void {
    const place = { collection: cronJobs, key };
    const cron = this.#world.find(place);
    if (cron === undefined || isTerminating(cron)) {
      this.#seen.delete(key);
      return;
    }
    const nowMs = this.#world.clock.nowMs();
    const minute = Math.floor(nowMs / minuteMs);
    const seen = this.#seen.get(key);
    if (seen !== minute) this.#again(key, (minute + 1) * minuteMs - nowMs);
    this.#seen.set(key, minute);
    // The minute in which it is made has begun already.
    if (seen !== undefined && seen < minute) this.#start(cron, minute);
    this.#prune(cron);
    this.#world.writeStatus(place, this.#status(cron));
  }

  #start(cron: StoredObject, minute: number): void {
    const spec = partOf(cron, 'spec');
    const schedule = parseCronSchedule(stringField(spec, 'schedule') ?? '');
    const time = timeIn(minute * minuteMs, stringField(spec, 'timeZone') ?? 'UTC');
    if (spec.suspend === true || schedule?.(time) !== true) return;
    const active = this.#jobs(cron).filter((job) => endOf(job) === undefined);
    if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) return;
    if (spec.concurrencyPolicy === 'Replace')
      for (const job of active) this.#world.delete({ collection: jobs, key: job.key });
    const name = `${cron.name}-${minute}`;
    if (this.#world.find({ collection: jobs, key: storeKey(cron.namespace, name) })) return;
    const template = objectField(spec, 'jobTemplate') ?? {};
    const metadata = objectField(template, 'metadata') ?? {};
    this.#world.create(jobs, cron.namespace, {
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
    this.#world.record(cron, {
      component: 'cronjob-controller',
      reason: 'SuccessfulCreate',
      message: `Created job ${name}`,
    });
  }

  /** Keeps as many ended Jobs as it is told to. */
  #prune(cron: StoredObject): void {
    const spec = partOf(cron, 'spec');
    for (const [end, field, limit] of [
      ['Complete', 'successfulJobsHistoryLimit', 3],
      ['Failed', 'failedJobsHistoryLimit', 1],
    ] as const) {
      const ended = this.#jobs(cron).filter((job) => endOf(job) === end);
      for (const job of ended.slice(0, Math.max(ended.length - numberOf(spec, field, limit), 0)))
        this.#world.delete({ collection: jobs, key: job.key });
    }
  }

  /** In the order in which they were made. */
  #jobs(cron: StoredObject): readonly StoredObject[] {
    return controlledBy(this.#world, jobs, cron).filter((job) => !isTerminating(job));
  }

  #status(cron: StoredObject): JsonObject {
    const owned = this.#jobs(cron);
    const times = owned.map((job) => {
      const annotations = objectField(partOf(job, 'metadata'), 'annotations') ?? {};
      return stringField(annotations, timeAnnotation) ?? '';
    });
    const ends = owned.map((job) => stringField(partOf(job, 'status'), 'completionTime') ?? '');
    const old = partOf(cron, 'status');
    const latest = (found: readonly string[], before: string | undefined) =>
      [...found, before ?? ''].sort().at(-1) ?? '';
    const scheduled = latest(times, stringField(old, 'lastScheduleTime'));
    const succeeded = latest(ends, stringField(old, 'lastSuccessfulTime'));
    const active = owned.filter((job) => endOf(job) === undefined);
    return {
      ...(active.length === 0 ? {} : { active: active.map(referenceTo) }),
      ...(scheduled === '' ? {} : { lastScheduleTime: scheduled }),
      ...(succeeded === '' ? {} : { lastSuccessfulTime: succeeded }),
    };
  }
}

function endOf(job: StoredObject): 'Complete' | 'Failed' | undefined {
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

/** A time as people in a zone see it. */
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
