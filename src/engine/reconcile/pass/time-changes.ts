import type { PassInput } from './pass.ts';

/** Shortest time until a resource runs again because of the time. */
const shortestMs = 1_000;
/** So many times within the window may be that close. An expression that changes every second is followed more slowly. */
const maxFrequent = 10;
const windowMs = 60_000;
const slowMs = 10_000;

/** The times at which a resource was last planned to run because of the time, in wall-clock ms; oldest first. */
export class TimeChanges {
  #planned: readonly number[] = [];

  /** The delay until a change of a result, in ms. */
  plan(changeMs: number, nowMs: number): number {
    const afterMs = changeMs - nowMs;
    this.#planned = this.#planned.filter((ms) => ms > nowMs - windowMs && ms <= nowMs);
    const delayMs = Math.max(afterMs, this.#planned.length < maxFrequent ? shortestMs : slowMs);
    this.#planned = [...this.#planned, nowMs + delayMs];
    return delayMs;
  }
}

/** How long no result changes that depends on the present, in ms. Undefined: none is known to change. */
export function untilTimeChange({ context, phaseInput, state }: PassInput): number | undefined {
  const changeMs = phaseInput.flips.earliestMs;
  return changeMs === undefined
    ? undefined
    : state.timeChanges.plan(changeMs, context.clock.nowMs());
}

/** Until the next time of the resource's own schedule, in ms. Undefined: none is known. */
export function untilScheduled({ context, phaseInput, state }: PassInput): number | undefined {
  // Also when a timer or an event was some milliseconds early: what this pass has rendered is of the time before.
  const nextMs = state.schedule?.nextMs(Date.parse(phaseInput.now));
  return nextMs === undefined ? undefined : nextMs - context.clock.nowMs();
}

/** The shorter of two delays. Undefined: there is none. */
export function shorter(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
