import type { Random } from '#util/random.ts';
import type { Next } from '../core/view.ts';

/** What is remembered of an object between reconciles, and may be lost. */
export interface ObjectMemory {
  readonly uid: string;
  /** What the last reconcile depended on; another text reconciles at once. */
  readonly cause: string;
  /** Of the next scheduled observation, on the monotonic clock. */
  readonly nextLookMs: number;
  /** Updates in a row whose effect did not last. */
  readonly lostWrites: number;
  readonly lastUpdateMs: number;
  /** When a request that writes was last sent without an answer, in ms since the epoch. */
  readonly lostAtMs: number;
  /** When the object was last observed, on the monotonic clock. Undefined: this process has not observed it. */
  readonly observedAtMs?: number;
  /** Hash of the content of the Secret that was last written. */
  readonly secretHash?: string;
}

/** An unstable object is updated again after this time. */
const unstableMs = 600_000;
const jitter = 0.1;

export function isUpdateDue(lastUpdateMs: number, nowMs: number): boolean {
  return nowMs - lastUpdateMs >= unstableMs;
}

/** The next observation, in ms from now. Infinite: only after a change. */
export function lookDelayMs(next: Next, everyMs: number, random: Random): number {
  if (next.kind === 'after' || next.kind === 'backoff') return 0;
  if (next.kind === 'event') return Number.POSITIVE_INFINITY;
  const { withinMs = Number.POSITIVE_INFINITY } = next;
  if (everyMs === 0) return withinMs;
  return Math.min(withinMs, everyMs * (1 - jitter + 2 * jitter * random.fraction()));
}
