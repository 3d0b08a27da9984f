/** A revision of a definition. */
export interface Mark {
  readonly name: string;
  readonly revision: string;
}

/** The process ended while it worked for this revision. */
export interface Crash extends Mark {
  /** When the next process found that out, in ms since the epoch. */
  readonly atMs: number;
}

/** So many crashes within {@link windowMs} suspend a revision. */
export const crashesToSuspend = 3;
export const windowMs = 10 * 60_000;
/** How long it is suspended for the first time; after each further crash twice as long. */
const firstPauseMs = 60 * 60_000;
const longestPauseMs = 24 * 60 * 60_000;
/** Older crashes are forgotten, and of the younger ones all but the last. */
const keptMs = 2 * longestPauseMs;
const keptCrashes = 200;
/** So far clocks of replicas may be apart. What is later than that was noted by a clock that has been set back since. */
const clockSkewMs = 5 * 60_000;

/**
 * Until when a revision that crashed at these times (ascending) is suspended; undefined: it is not, and never was. Three crashes in ten
 * minutes suspend it for an hour; who crashes again when it is tried after that is suspended at once, for twice as long, up to a day.
 */
export function suspendedUntilMs(timesMs: readonly number[]): number | undefined {
  let untilMs: number | undefined;
  let pauseMs = firstPauseMs;
  for (const [index, atMs] of timesMs.entries()) {
    const firstMs = timesMs[index - crashesToSuspend + 1];
    const isRow = firstMs !== undefined && atMs - firstMs <= windowMs;
    if (untilMs === undefined && !isRow) continue;
    untilMs = atMs + pauseMs;
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
  return untilMs;
}

/** The crashes that still count, in order, without doubles. */
export function recent(crashes: readonly Crash[], nowMs: number): readonly Crash[] {
  const byText = new Map(crashes.map((crash) => [JSON.stringify(crash), crash]));
  return [...byText.values()]
    .filter(({ atMs }) => nowMs - atMs < keptMs && atMs - nowMs <= clockSkewMs)
    .sort((a, b) => a.atMs - b.atMs)
    .slice(-keptCrashes);
}

/** Reads what `JSON.stringify` made of a history; whatever is none is an empty one. */
export function parseCrashes(text: string): readonly Crash[] {
  const found = parseJson(text);
  return Array.isArray(found) ? found.filter(isCrash) : [];
}

/** Reads what `JSON.stringify` made of marks. */
export function parseMarks(text: string): readonly Mark[] {
  const found = parseJson(text);
  return Array.isArray(found) ? found.filter(isMark) : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMark(value: unknown): value is Mark {
  const { name, revision } = (value ?? {}) as Partial<Mark>;
  return typeof name === 'string' && typeof revision === 'string';
}

function isCrash(value: unknown): value is Crash {
  return isMark(value) && Number.isFinite((value as Partial<Crash>).atMs);
}
