import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { ResourceState } from '../resource-state.ts';
import type { Pass } from './pass.ts';

/** Reconciles that used up what they may compute or hold (`controller.limits`). */
export interface LimitRest {
  /** So many in a row. */
  count: number;
  /** When the last one ended. Monotonic. */
  sinceMs: number;
  /** Of the resource then: another one may do better, and does not wait as long. */
  generation: number | undefined;
}

/** Each costs as much as it may: it is not repeated for every event of a child. */
const rest = { baseDelayMs: 5_000, maxDelayMs: 300_000 };
/** In the condition `Ready`. The same for each try, or each would write a status. */
export const limitRestText = 'the next reconcile is after 5 s, later ones after up to 5 min';

export function createLimitRest(): LimitRest {
  return { count: 0, sinceMs: 0, generation: undefined };
}

/** How long the resource still has to rest, in ms. An edit shortens it, and does not end it: edits are cheap to make. */
export function remainingLimitRestMs(
  { limitRest: { count, sinceMs, generation } }: ResourceState,
  { metadata }: KubeObject,
  clock: Clock,
): number {
  if (count === 0) return 0;
  const restMs = generation === metadata.generation ? backoffMs(count - 1, rest) : rest.baseDelayMs;
  return Math.max(0, sinceMs + restMs - clock.monotonicMs());
}

/** Notes whether a reconcile stayed within its limits. */
export function noteLimit({ state, budget, resource, context }: Pass): void {
  const { limitRest } = state;
  if (!budget.isExceeded) {
    limitRest.count = 0;
    return;
  }
  const { generation } = resource.metadata;
  limitRest.count = limitRest.generation === generation ? limitRest.count + 1 : 1;
  limitRest.generation = generation;
  limitRest.sinceMs = context.clock.monotonicMs();
}
