import { type Fault, matching, type ProxiedRequest } from '../../support/fault-proxy/index.ts';
import type { SeededRandom } from '../../support/model/seeded-random.ts';
import { onEvent, onRequest } from '../fault-case.ts';

/** Each is drawn by a chance at every request or event, and acts at most so often. */
const someTimes = 6;

/** A handful of faults of all kinds, each with a small chance at every request or event; the seed decides. */
export function randomFaults(random: SeededRandom): readonly Fault[] {
  const all = [...requestFaults(random), ...eventFaults(random)];
  return Array.from({ length: 2 + random.below(4) }, () => random.take(all)).filter(
    (fault) => fault !== undefined,
  );
}

function requestFaults(random: SeededRandom): readonly Fault[] {
  const writes = { verb: ['apply', 'delete'] } as const;
  const limits = (selector: Parameters<typeof matching>[0], chance: number) => ({
    when: byChance(random, { selector, chance }),
    times: someTimes,
  });
  return [
    onRequest('409', { kind: 'answer', status: 409 }, limits(writes, 0.1)),
    onRequest('410', { kind: 'answer', status: 410 }, limits({ verb: ['list', 'watch'] }, 0.3)),
    onRequest('429', { kind: 'answer', status: 429, retryAfterSeconds: 1 }, limits({}, 0.05)),
    onRequest('500', { kind: 'answer', status: 500 }, limits({}, 0.05)),
    onRequest('503', { kind: 'answer', status: 503 }, limits({}, 0.05)),
    onRequest('reset', { kind: 'reset', when: 'before' }, limits({}, 0.05)),
    onRequest('lost answer', { kind: 'reset', when: 'after' }, limits(writes, 0.1)),
    onRequest('truncated answer', { kind: 'truncate' }, limits({}, 0.05)),
    onRequest('late answer', { kind: 'delay', answerMs: 300 }, limits(writes, 0.2)),
    onRequest('late request', { kind: 'delay', requestMs: 300 }, limits(writes, 0.2)),
    onRequest('slow answer', { kind: 'delay', answerMs: 5_000 }, limits({}, 0.03)),
    onRequest('reordered', { kind: 'reorder', count: 4 }, limits(writes, 0.5)),
    onRequest('small pages', { kind: 'paginate', pageSize: 3 }, limits({ verb: 'list' }, 0.5)),
    onRequest('short watch', { kind: 'shorten', seconds: 3 }, limits({ verb: 'watch' }, 0.5)),
  ];
}

function eventFaults(random: SeededRandom): readonly Fault[] {
  const limits = (chance: number, times = someTimes) => ({
    when: byChance(random, { selector: { verb: 'watch' }, chance }),
    times,
  });
  return [
    onEvent('cut', { kind: 'cut', midLine: random.chance(0.5) }, limits(0.05, 3)),
    onEvent('expired', { kind: 'error', status: 410 }, limits(0.05, 3)),
    onEvent('silence', { kind: 'silence' }, limits(0.02, 2)),
    onEvent('duplicate', { kind: 'duplicate' }, limits(0.2)),
    onEvent('lag', { kind: 'lag', ms: 300 }, limits(0.1)),
  ];
}

interface Chance {
  readonly selector: Parameters<typeof matching>[0];
  readonly chance: number;
}

function byChance(random: SeededRandom, { selector, chance }: Chance) {
  const matches = matching(selector);
  return (request: ProxiedRequest): boolean => matches(request) && random.chance(chance);
}
