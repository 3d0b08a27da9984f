import { ExpressionError } from './evaluation-error.ts';
import { limits } from './limits.ts';
import type { Meter } from './meter.ts';
import { entriesBytes } from './step-costs.ts';
import type { WorkBudget } from './work-budget.ts';

/**
 * Copies the result of an evaluation to plain JSON that shares nothing with the input. JSONata's objects have no
 * prototype, its lists have extra keys, and a path returns the cached object itself. A top-level `null` is no result.
 * Charges the meter for the copy.
 * @throws ExpressionError for functions, `__proto__` keys, numbers that are not finite, and exceeded limits.
 */
export function plainResult(value: unknown, meter: Meter): unknown {
  return typeof value === 'object' && value !== null ? copyOf(value, meter) : plainScalar(value);
}

/** As {@link plainResult} for scalars, without cost. */
export function plainScalar(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return boundedText(value);
    case 'number':
      return checkedNumber(value);
    case 'boolean':
    case 'bigint':
    case 'undefined':
      return value;
    default:
      if (value === null) return undefined;
      throw notJson('a function');
  }
}

/** As {@link plainResult} for a value found by a path, without an evaluation. */
export function plainCopy(value: object, budget: WorkBudget | undefined): unknown {
  const counted: Budget = { left: limits.resultNodes, meter: undefined };
  const result = copy(value, counted, 0);
  budget?.spend(limits.resultNodes - counted.left);
  return result;
}

function copyOf(value: unknown, meter: Meter): unknown {
  const most = Math.min(limits.resultNodes, meter.stepsLeft);
  const budget = { left: most, meter };
  const result = copy(value, budget, 0);
  const nodes = most - budget.left;
  meter.spend(nodes);
  meter.allocate(entriesBytes(nodes));
  return result;
}

interface Budget {
  left: number;
  /** Undefined: only the total is limited. */
  readonly meter: Meter | undefined;
}

function copy(value: unknown, budget: Budget, depth: number): unknown {
  if (--budget.left < 0) {
    budget.meter?.ensureAvailable(limits.resultNodes);
    throw tooLarge('values');
  }
  switch (typeof value) {
    case 'string':
      return boundedText(value);
    case 'number':
      return checkedNumber(value);
    case 'boolean':
    case 'bigint':
      return value;
    case 'object':
      if (value === null) return null;
      if (depth >= limits.resultDepth) throw tooLarge('levels');
      return Array.isArray(value)
        ? copyList(value, budget, depth + 1)
        : copyObject(value, budget, depth + 1);
    case 'undefined':
      return null;
    default:
      throw notJson('a function');
  }
}

function copyList(list: readonly unknown[], budget: Budget, depth: number): unknown[] {
  const result = new Array<unknown>(list.length);
  for (let index = 0; index < list.length; index++)
    result[index] = copy(list[index], budget, depth);
  return result;
}

function copyObject(value: object, budget: Budget, depth: number): Record<string, unknown> {
  const source = value as Readonly<Record<string, unknown>>;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(source)) {
    const field = source[key];
    if (field === undefined) continue;
    if (key === '__proto__') throw notJson('a "__proto__" key');
    if ((key === '_jsonata_lambda' || key === '_jsonata_function') && field === true) {
      throw notJson('a function');
    }
    result[key] = copy(field, budget, depth);
  }
  return result;
}

/** The number as JSONata prints it, with 15 digits: 0.1 + 0.2 is 0.3. */
export function roundedNumber(number: number): number {
  return Number.isInteger(number) ? number : Number(number.toPrecision(15));
}

/** Returns the string if it is not too long. @throws ExpressionError */
export function boundedText(text: string): string {
  assertTextLength(text.length);
  return text;
}

/** Checks the length of a string. @throws ExpressionError */
export function assertTextLength(length: number): void {
  if (length <= limits.textLength) return;
  const message = `Expected a string of at most ${limits.textLength} characters`;
  throw new ExpressionError('limit-exceeded', message);
}

function checkedNumber(number: number): number {
  if (!Number.isFinite(number)) {
    throw new ExpressionError('evaluation-failed', 'Expected a finite number');
  }
  return number;
}

function tooLarge(what: 'values' | 'levels'): ExpressionError {
  const limit = what === 'values' ? limits.resultNodes : limits.resultDepth;
  return new ExpressionError('limit-exceeded', `Expected a result of at most ${limit} ${what}`);
}

function notJson(what: string): ExpressionError {
  return new ExpressionError(
    'evaluation-failed',
    `Expected plain JSON as the result, found ${what}`,
  );
}
