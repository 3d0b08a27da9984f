import { parseCron } from '../../util/cron.ts';
import { parseDurationMs } from '../../util/duration.ts';
import { isJsonObject } from '../../util/json.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { mapAt, valueAt } from '../tree.ts';
import { holdsExpression } from './expression-text.ts';
import type { Rule } from './rule.ts';

/** Any moment will do: times that come again come within the years after it. */
const someMomentMs = Date.UTC(2024, 0, 1);

/** Times are times, and come. */
export const checkSchedule: Rule = function* (document) {
  const schedule = mapAt(document, '/spec/schedule');
  const { cron, timeZone } = schedule;
  if (isJsonObject(valueAt(document, '/spec/schedule')) && Object.keys(schedule).length === 0) {
    const message = 'Expected "every" or "cron" in "schedule", found neither';
    yield { code: 'missing-field', path: '/spec/schedule', at: 'key', message };
  }
  if (typeof cron === 'string') yield* checkCron(cron, timeZone);
  else if (typeof timeZone === 'string' && timeZone !== 'UTC') {
    const message = '"timeZone" is for "cron"';
    yield { code: 'invalid-value', path: '/spec/schedule/timeZone', at: 'key', message };
  }
  yield* checkRequeueAfter(valueAt(document, '/spec/requeueAfter'));
};

function* checkCron(cron: string, timeZone: unknown): Iterable<Finding> {
  const path = '/spec/schedule/cron';
  const message = `Expected a cron expression such as "*/5 * * * *", found ${found(cron)}`;
  const problem = problemOf(() => parseCron(cron).nextMs(someMomentMs));
  if (problem !== undefined) yield { code: 'invalid-value', path, message, hint: problem };
  if (typeof timeZone !== 'string') return;
  const zoneProblem = problemOf(() => parseCron('* * * * *', timeZone).nextMs(someMomentMs));
  if (zoneProblem === undefined) return;
  yield { code: 'invalid-value', path: '/spec/schedule/timeZone', message: zoneProblem };
}

function problemOf(next: () => number | undefined): string | undefined {
  try {
    return next() === undefined ? 'There is no such time' : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function* checkRequeueAfter(value: unknown): Iterable<Finding> {
  if (typeof value !== 'string' || holdsExpression(value)) return;
  if (parseDurationMs(value.trim()) !== undefined) return;
  yield {
    code: 'invalid-value',
    path: '/spec/requeueAfter',
    message: `Expected a duration such as "30s", or an expression that gives one, found ${found(value)}`,
  };
}
