import type { SeededRandom } from '../model/seeded-random.ts';
import { type Fault, matching } from './fault.ts';
import type { ProxiedRequest } from './proxied-request.ts';

/** Faults of all kinds, each with a small chance at every request or event; the seed decides. */
export function randomFaults(random: SeededRandom): readonly Fault[] {
  const often = (selector: Parameters<typeof matching>[0], chance: number) => {
    const matches = matching(selector);
    return (request: ProxiedRequest) => matches(request) && random.chance(chance);
  };
  const writes = { verb: ['apply', 'delete'] } as const;
  const event = { verb: 'watch' } as const;
  const some = { times: 6, isChance: true };
  return [
    {
      on: 'request',
      name: '409',
      when: often(writes, 0.1),
      action: { kind: 'answer', status: 409 },
      ...some,
    },
    {
      on: 'request',
      name: '500',
      when: often({}, 0.05),
      action: { kind: 'answer', status: 500 },
      ...some,
    },
    {
      on: 'request',
      name: '503',
      when: often({}, 0.05),
      action: { kind: 'answer', status: 503, retryAfterSeconds: 1 },
      ...some,
    },
    {
      on: 'request',
      name: 'reset',
      when: often({}, 0.05),
      action: { kind: 'reset', when: 'before' },
      ...some,
    },
    {
      on: 'request',
      name: 'answer lost',
      when: often(writes, 0.1),
      action: { kind: 'reset', when: 'after' },
      ...some,
    },
    {
      on: 'request',
      name: 'late answer',
      when: often(writes, 0.1),
      action: { kind: 'delay', answerMs: 200 },
      ...some,
    },
    {
      on: 'request',
      name: 'late request',
      when: often(writes, 0.1),
      action: { kind: 'delay', requestMs: 200 },
      ...some,
    },
    {
      on: 'event',
      name: 'cut',
      when: often(event, 0.05),
      action: { kind: 'cut', midLine: random.chance(0.5) },
      times: 2,
      isChance: true,
    },
    {
      on: 'event',
      name: 'error',
      when: often(event, 0.05),
      action: { kind: 'error', status: 410 },
      times: 2,
      isChance: true,
    },
    {
      on: 'event',
      name: 'duplicate',
      when: often(event, 0.1),
      action: { kind: 'duplicate' },
      ...some,
    },
    {
      on: 'event',
      name: 'lag',
      when: often(event, 0.05),
      action: { kind: 'lag', ms: 200 },
      ...some,
    },
  ];
}
