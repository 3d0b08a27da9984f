import { nextChange, type SearchRange } from './next-change.ts';
import { ZoneCache } from './zone-cache.ts';

/** The end of a period, from a time on. */
export type PeriodEnd = (ms: number) => number;

/** A value that depends on the present: what it is at another time. */
export interface TimedValue {
  /** The same for values that are computed in the same way. */
  readonly key: string;
  /** Undefined: it has no value then. */
  readonly at: (ms: number) => unknown;
  /** From a time on: the end of the period in which it only grows or only falls. @default never */
  readonly until?: PeriodEnd | undefined;
  /** From a time on: the end of a period in which it stays the same. @default not known */
  readonly staysUntil?: PeriodEnd | undefined;
  /** It keeps each of its values for a while, so that it can equal another one. @default false */
  readonly hasSteps?: boolean;
}

/** In which ways a value depends on the present. */
export interface Ways {
  readonly all: readonly TimedValue[];
  /** There are more. */
  readonly isCut: boolean;
  /** It does depend on the present: it is not another value that is equal by chance. */
  readonly isCertain?: boolean;
}

/** A test whose result may change. */
interface Watched {
  /** The same for tests that are computed in the same way. */
  readonly key: string;
  /** See {@link TimedValue.until}. */
  readonly until?: PeriodEnd | undefined;
}

/** Changes later than this do not count: a timer would be kept for years. */
const horizonMs = 10 * 365 * 86_400_000;
/** A text whose minutes do not grow within its hours is searched minute by minute, for more than a day. */
const mostPeriods = 1_500;
/** Periods of all searches of a reconcile. */
const mostPeriodsInAll = 3_000;
/** A period costs some calls of the functions that compute the value. */
const stepsPerPeriod = 20;
/** When a result may change that was not searched. */
const laterMs = 600_000;
/** Equal values may come from several expressions: each is followed. */
const mostAlternatives = 6;
const mostValues = 10_000;
/** A value that is computed from longer texts counts as different from all others. */
const mostKeyLength = 500;

const none: readonly TimedValue[] = [];

/**
 * Finds the earliest time at which a comparison with the present has another result, for all expressions of one reconcile.
 *
 * Values are followed by value, not by identity: a number or a text that equals one that depends on the present counts as such. So values
 * are found again behind vars, lists and lambdas. A value that is equal by chance causes one reconcile that changes nothing.
 */
export class TimeFlips {
  readonly #nowMs: number;
  /** The newest alternatives first. */
  readonly #values = new Map<unknown, readonly TimedValue[]>();
  /** Values with more alternatives than are kept. */
  readonly #cut = new Set<unknown>();
  readonly #keys = new Map<string, string>();
  readonly #watched = new Set<string>();
  #unequalKeys = 0;
  #noted: { readonly key: unknown; readonly all: readonly TimedValue[] } | undefined;
  #earliestMs: number | undefined;
  #periods = 0;
  #periodsCharged = 0;
  /** `$now()`. */
  readonly present: TimedValue = { key: 'now', at: (ms) => new Date(ms).toISOString() };
  /** `$millis()`. */
  readonly presentMs: TimedValue = { key: 'millis', at: (ms) => ms };
  readonly zones = new ZoneCache();

  /** @param nowMs the time that `$now()` returns. */
  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** The earliest time at which a result changes, after the present. Undefined: none is known. */
  get earliestMs(): number | undefined {
    return this.#earliestMs;
  }

  /** Remembers that a value depends on the present. Other types than numbers and strings are ignored. */
  note(value: unknown, timed: TimedValue): void {
    const key = keyOf(value);
    if (key === undefined) return;
    const before = this.#noted?.key === key ? this.#noted.all : none;
    this.#noted = { key, all: first(timed, before) };
    const known = this.#values.get(key) ?? none;
    if (known.length === 0 && this.#values.size >= mostValues) {
      this.changesLater();
      return;
    }
    const all = first(timed, known);
    if (all.length > mostAlternatives) this.#cut.add(key);
    this.#values.set(key, all.slice(0, mostAlternatives));
  }

  /** How a value depends on the present, in all ways that are possible. Empty: it does not. */
  of(value: unknown): readonly TimedValue[] {
    const key = keyOf(value);
    return (key === undefined ? undefined : this.#values.get(key)) ?? none;
  }

  /** As {@link TimeFlips.of}; `isCut`: there are more ways than are known. */
  waysOf(value: unknown): Ways {
    const isCut = this.#cut.size > 0 && this.#cut.has(keyOf(value));
    return { all: this.of(value), isCut };
  }

  /** The ways that were noted for a value since the last call: those of the expression that has just returned it. Undefined: it noted none. */
  takeNoted(value: unknown): Ways | undefined {
    const noted = this.#noted;
    this.#noted = undefined;
    if (noted === undefined || noted.key !== keyOf(value)) return undefined;
    const { all } = noted;
    const isCertain = all.every((each) => each === this.present || each === this.presentMs);
    return { all: all.slice(0, mostAlternatives), isCut: all.length > mostAlternatives, isCertain };
  }

  /** A value is computed from one that depends on the present in more ways than are known. */
  noteCut(value: unknown): void {
    const key = keyOf(value);
    if (key !== undefined && this.#cut.size < mostValues) this.#cut.add(key);
  }

  /** A short text for the parts from which a value is computed. Undefined among the parts: equal to no other. */
  keyOf(parts: readonly (string | undefined)[]): string {
    const text = parts.includes(undefined) ? undefined : JSON.stringify(parts);
    const known = text === undefined ? undefined : this.#keys.get(text);
    if (known !== undefined) return known;
    if (text === undefined || text.length > mostKeyLength || this.#keys.size >= mostValues)
      return `other ${this.#unequalKeys++}`;
    const key = `key ${this.#keys.size}`;
    this.#keys.set(text, key);
    return key;
  }

  /** A result changes at this time. */
  changesAt(ms: number): void {
    if (ms > this.#nowMs && ms < this.#beforeMs) this.#earliestMs = ms;
  }

  /** A result may change that is not followed. */
  changesLater(): void {
    this.changesAt(this.#nowMs + laterMs);
  }

  /** Finds the time at which a test changes. What was searched already is not searched again: only earlier changes would count. */
  watch(test: (ms: number) => unknown, { key, until }: Watched): void {
    if (this.#watched.has(key)) return;
    if (this.#watched.size < mostValues) this.#watched.add(key);
    const found = this.#search(test, { fromMs: this.#nowMs, beforeMs: this.#beforeMs, until });
    if (found !== undefined) this.changesAt(found);
    if (this.#isExhausted) this.changesLater();
  }

  /** The time after another one at which a test changes; infinite: it does not. */
  changeAfter(test: (ms: number) => unknown, fromMs: number, until?: PeriodEnd): number {
    const range = { fromMs, beforeMs: fromMs + horizonMs, until };
    return this.#search(test, range) ?? Number.POSITIVE_INFINITY;
  }

  /** The steps of all searches since the last call. */
  takeSteps(): number {
    const periods = this.#periods - this.#periodsCharged;
    this.#periodsCharged = this.#periods;
    return periods * stepsPerPeriod;
  }

  #search(
    test: (ms: number) => unknown,
    { until, ...range }: Pick<SearchRange, 'fromMs' | 'beforeMs' | 'until'>,
  ): number | undefined {
    if (this.#isExhausted) return undefined;
    const counted = (ms: number) => {
      this.#periods++;
      return until?.(ms) ?? Number.POSITIVE_INFINITY;
    };
    const left = mostPeriodsInAll - this.#periods;
    return nextChange(test, { ...range, until: counted, mostPeriods: Math.min(mostPeriods, left) });
  }

  get #isExhausted(): boolean {
    return this.#periods >= mostPeriodsInAll;
  }

  get #beforeMs(): number {
    return this.#earliestMs ?? this.#nowMs + horizonMs;
  }
}

/** With a value as the first one. */
function first(timed: TimedValue, others: readonly TimedValue[]): readonly TimedValue[] {
  if (others[0]?.key === timed.key) return others;
  return [timed, ...others.filter(({ key }) => key !== timed.key)];
}

/** Results are rounded where they leave an expression. */
function keyOf(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(15));
  return typeof value === 'string' ? value : undefined;
}

/** The end of the shorter of two periods; that of both, if only one has an end. */
export function earlierEnd(
  one: PeriodEnd | undefined,
  other: PeriodEnd | undefined,
): PeriodEnd | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (ms) => Math.min(one(ms), other(ms));
}

/** Equal for constants that are the same. Undefined: equal to no other. */
export function constantKey(value: unknown): string | undefined {
  if (typeof value === 'string') return value.length > mostKeyLength ? undefined : `text ${value}`;
  const isShort = value === undefined || typeof value === 'number' || typeof value === 'boolean';
  return isShort ? `${typeof value} ${String(value)}` : undefined;
}
