import { parseDurationMs } from '../../util/duration.ts';
import { parseQuantity, quantityNumber } from '../../util/quantity.ts';
import type { Finding } from '../finding.ts';
import { valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

const durations = [
  '/spec/controller/resync',
  '/spec/controller/retry/initial',
  '/spec/controller/retry/max',
  '/spec/controller/retry/permanent',
  '/spec/controller/limits/cpu',
  '/spec/schedule/every',
  '/spec/onDelete/timeout',
];

/** Longer than 24 days a timer of JavaScript cannot wait. */
const longestMs = 24 * 86_400_000;

/** Slower than that a roll-out would take days for the first few resources. */
const slowestPerSecond = 0.001;

/** Durations and paces are of use: above nothing, not too long, and the first wait is not longer than the longest. */
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
  yield* checkPace(document);
  yield* checkMemory(document);
};

/** A child may have 1 MiB. */
const leastMemory = 1024 * 1024;

function* checkMemory(document: unknown): Iterable<Finding> {
  const path = '/spec/controller/limits/memory';
  const value = valueAt(document, path);
  if (typeof value !== 'string') return;
  const quantity = parseQuantity(value);
  const bytes = quantity && quantityNumber(quantity);
  if (bytes !== undefined && bytes >= leastMemory) return;
  const message = `Expected a quantity of at least "1Mi", found "${value}"`;
  yield { code: 'invalid-value', path, message };
}

function* checkPace(document: unknown): Iterable<Finding> {
  const path = '/spec/controller/rollout/perSecond';
  const pace = valueAt(document, path);
  if (typeof pace !== 'number' || pace <= 0 || pace >= slowestPerSecond) return;
  const message = `Expected "0" (all at once) or at least "${slowestPerSecond}", found "${pace}"`;
  yield { code: 'invalid-value', path, message };
}

function* checkDuration(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string') return;
  const ms = parseDurationMs(value);
  if (ms === undefined || (ms > 0 && ms <= longestMs)) return;
  const wanted = ms === 0 ? 'a duration above "0"' : 'at most "24d"';
  yield { code: 'invalid-value', path, message: `Expected ${wanted}, found "${value}"` };
}

function durationAt(document: unknown, path: string): number | undefined {
  const value = valueAt(document, path);
  return typeof value === 'string' ? parseDurationMs(value) : undefined;
}
