import { parseCron } from '#util/cron.ts';
import { parseDurationMs } from '#util/duration.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject, type Json, pointerTo } from '#util/json.ts';
import { parseQuantity, quantityNumber } from '#util/quantity.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapAt, mapsAt, valueAt } from '../tree.ts';
import { containsExpression, type Rule } from './rule.ts';
import { checkLiteralSelector } from './selector.ts';

const durations = [
  '/spec/controller/resync',
  '/spec/controller/retry/initial',
  '/spec/controller/retry/max',
  '/spec/controller/retry/permanent',
  '/spec/controller/limits/cpu',
  '/spec/schedule/every',
  '/spec/onDelete/timeout',
];

/** JavaScript timers are limited to about 24 days. */
const maxDurationMs = 24 * 86_400_000;

/** At a lower rate a rollout would take days for a few hundred resources. */
const minPerSecond = 0.001;

/** Durations and rates are within their limits, and the initial delay is not greater than the maximum. */
export const checkController: Rule = function* (document) {
  for (const path of durations) yield* checkDuration(valueAt(document, path), path);
  const initial = durationAt(document, '/spec/controller/retry/initial');
  const max = durationAt(document, '/spec/controller/retry/max');
  if (initial !== undefined && max !== undefined && initial > max) {
    const shown = String(valueAt(document, '/spec/controller/retry/max'));
    yield {
      code: 'invalid-value',
      path: '/spec/controller/retry/max',
      message: `Expected at least the duration of "initial", found "${shown}"`,
    };
  }
  yield* checkRolloutRate(document);
  yield* checkMemory(document);
  yield* checkClusters(document);
};

function checkClusters(document: Json): Iterable<Finding> {
  const path = '/spec/controller/clusters/selector';
  const { selector } = mapAt(document, '/spec/controller/clusters');
  return checkLiteralSelector(selector, path, {
    what: 'The selector of "clusters"',
    insteadOfExpression: 'Clusters are selected before expressions are evaluated',
    all: 'clusters',
  });
}

/** The size limit of one child is 1 MiB. */
const minMemoryBytes = 1024 * 1024;

function* checkMemory(document: unknown): Iterable<Finding> {
  const path = '/spec/controller/limits/memory';
  const value = valueAt(document, path);
  if (typeof value !== 'string') return;
  const quantity = parseQuantity(value);
  const bytes = quantity && quantityNumber(quantity);
  if (bytes !== undefined && bytes >= minMemoryBytes) return;
  const message = `Expected a quantity of at least "1Mi", found "${value}"`;
  yield { code: 'invalid-value', path, message };
}

function* checkRolloutRate(document: unknown): Iterable<Finding> {
  const path = '/spec/controller/rollout/perSecond';
  const pace = valueAt(document, path);
  if (typeof pace !== 'number' || pace <= 0 || pace >= minPerSecond) return;
  const message = `Expected "0" (all at once) or at least "${minPerSecond}", found "${pace}"`;
  yield { code: 'invalid-value', path, message };
}

function* checkDuration(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string') return;
  const ms = parseDurationMs(value);
  if (ms === undefined || (ms > 0 && ms <= maxDurationMs)) return;
  const wanted = ms === 0 ? 'a duration above "0"' : 'at most "24d"';
  yield { code: 'invalid-value', path, message: `Expected ${wanted}, found "${value}"` };
}

function durationAt(document: unknown, path: string): number | undefined {
  const value = valueAt(document, path);
  return typeof value === 'string' ? parseDurationMs(value) : undefined;
}

/** `ordered` and `rollingUpdate` require `forEach`; it and `gate` have no effect with `OnDelete`, nor `cascade` where nothing is deleted. */
export const checkUpdateStrategy: Rule = function* (document) {
  for (const { value, path } of mapsAt(document, '/spec/children')) {
    const isList = Object.hasOwn(value, 'forEach');
    if (fieldOf(value, 'ordered') === true && !isList) yield needsForEach('ordered', path);
    const strategy = pointerTo(path, 'updateStrategy');
    yield* checkCascade(document, path);
    if (
      Object.hasOwn(value, 'gate') &&
      valueAt(document, pointerTo(strategy, 'type')) === 'OnDelete'
    )
      yield withOnDelete('gate', path);
    const rolling = pointerTo(strategy, 'rollingUpdate');
    if (valueAt(document, rolling) === undefined) continue;
    if (!isList) yield needsForEach('rollingUpdate', strategy);
    if (valueAt(document, pointerTo(strategy, 'type')) === 'OnDelete')
      yield withOnDelete('rollingUpdate', strategy);
    const hasSurge = valueAt(document, pointerTo(rolling, 'maxSurge')) !== undefined;
    yield* checkShare(document, pointerTo(rolling, 'maxUnavailable'), hasSurge ? 0 : 1);
    yield* checkShare(document, pointerTo(rolling, 'maxSurge'), 1);
  }
};

function* checkCascade(document: Json, child: string): Iterable<Finding> {
  const code = 'invalid-value';
  const ofUpdates = `${child}/updateStrategy/cascade`;
  const type = valueAt(document, `${child}/updateStrategy/type`) ?? 'Apply';
  if (valueAt(document, ofUpdates) !== undefined && (type === 'Apply' || type === 'OnDelete')) {
    const message = `"cascade" has no effect with "type: ${type}", which deletes no object`;
    const hint = 'Write "type: RecreateIfImmutable" or "type: Recreate"';
    yield { code, path: ofUpdates, at: 'key', message, hint };
  }
  if (valueAt(document, `${child}/deletionPolicy`) !== 'Orphan') return;
  if (valueAt(document, `${child}/cascade`) === undefined) return;
  const message = '"cascade" has no effect with "deletionPolicy: Orphan", which deletes no object';
  yield { code, path: `${child}/cascade`, at: 'key', message };
}

function needsForEach(field: string, path: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, field),
    at: 'key',
    message: `"${field}" requires "forEach"`,
  };
}

function withOnDelete(field: string, path: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, field),
    at: 'key',
    message: `"${field}" has no effect with "type: OnDelete", which updates no object`,
    hint: 'Write "type: Apply" or "type: Recreate"',
  };
}

/** A number of elements, or a percentage of them. */
function* checkShare(document: Json, path: string, minimum: 0 | 1): Iterable<Finding> {
  const value = valueAt(document, path);
  if (value === undefined || isShare(value, minimum)) return;
  yield {
    code: 'invalid-value',
    path,
    message: `Expected a number of at least ${minimum}, or a percentage from "1%" to "100%", found ${describeFound(value)}`,
  };
}

function isShare(value: unknown, minimum: number): boolean {
  if (typeof value === 'number') return value >= minimum;
  // The schema reports other types.
  if (typeof value !== 'string') return true;
  const percent = /^(\d{1,3})%$/.exec(value)?.[1];
  return percent !== undefined && Number(percent) >= 1 && Number(percent) <= 100;
}

/** An arbitrary time: a schedule that can match does so within the following years. */
const referenceTimeMs = Date.UTC(2024, 0, 1);

/** Cron schedules, time zones and `requeueAfter` are valid, and the schedule matches some time. */
export const checkSchedule: Rule = function* (document) {
  const schedule = mapAt(document, '/spec/schedule');
  const { cron, timeZone } = schedule;
  if (isJsonObject(valueAt(document, '/spec/schedule')) && Object.keys(schedule).length === 0) {
    const message = 'Expected "every" or "cron" in "schedule", found neither';
    yield { code: 'missing-field', path: '/spec/schedule', at: 'key', message };
  }
  if (typeof cron === 'string') yield* checkCron(cron, timeZone);
  else if (typeof timeZone === 'string' && timeZone !== 'UTC') {
    const message = '"timeZone" requires "cron"';
    yield { code: 'invalid-value', path: '/spec/schedule/timeZone', at: 'key', message };
  }
  yield* checkRequeueAfter(valueAt(document, '/spec/requeueAfter'));
};

function* checkCron(cron: string, timeZone: unknown): Iterable<Finding> {
  const path = '/spec/schedule/cron';
  const message = `Expected a cron expression such as "*/5 * * * *", found ${describeFound(cron)}`;
  const problem = containsExpression(cron)
    ? undefined
    : problemOf(() => parseCron(cron).nextMs(referenceTimeMs));
  if (problem !== undefined) yield { code: 'invalid-value', path, message, hint: problem };
  if (typeof timeZone !== 'string') return;
  const zoneProblem = problemOf(() => parseCron('* * * * *', timeZone).nextMs(referenceTimeMs));
  if (zoneProblem === undefined) return;
  yield { code: 'invalid-value', path: '/spec/schedule/timeZone', message: zoneProblem };
}

function problemOf(next: () => number | undefined): string | undefined {
  try {
    return next() === undefined ? 'The schedule never matches' : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function* checkRequeueAfter(value: unknown): Iterable<Finding> {
  if (typeof value !== 'string' || containsExpression(value)) return;
  if (parseDurationMs(value.trim()) !== undefined) return;
  yield {
    code: 'invalid-value',
    path: '/spec/requeueAfter',
    message: `Expected a duration such as "30s", or an expression that returns one, found ${describeFound(value)}`,
  };
}
