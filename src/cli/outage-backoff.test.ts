import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ApiClient, KubeError } from '#kube';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { OutageBackoff } from './outage-backoff.ts';

type Answer = 'well' | number;

/** A server that gives these answers, the last one again and again; 0: none at all. */
function serverOf(clock: FakeClock, ...answers: readonly Answer[]) {
  const atMs: number[] = [];
  const startMs = clock.monotonicMs();
  const request = () => {
    const answer = answers[atMs.length] ?? answers.at(-1) ?? 'well';
    atMs.push(clock.monotonicMs() - startMs);
    if (answer === 'well') return Promise.resolve({ status: 200, body: {} });
    const code = answer === 0 ? 'unavailable' : 'unexpected';
    return Promise.reject(new KubeError(code, 'No', { status: answer }));
  };
  return { api: { request } as unknown as ApiClient, atMs };
}

function setUp() {
  const clock = new FakeClock();
  const outages = new OutageBackoff({ clock, random: { fraction: () => 0.5, text: () => '' } });
  const { signal } = new AbortController();
  return { clock, outages, signal };
}

describe('cli/outage-backoff', () => {
  test('asks every few seconds until the server answers', async () => {
    const { clock, outages, signal } = setUp();
    const { api, atMs } = serverOf(clock, 0, 503, 'well');
    const waiting = outages.waitUntilServing(api, signal);
    await clock.advance(60_000);
    await waiting;
    assert.deepEqual(atMs, [750, 3_750, 6_750]);
  });

  test('a rejection is an answer', async () => {
    const { clock, outages, signal } = setUp();
    const { api, atMs } = serverOf(clock, 401);
    const waiting = outages.waitUntilServing(api, signal);
    await clock.advance(60_000);
    await waiting;
    assert.equal(atMs.length, 1);
  });

  test('waits longer after outages that follow each other closely, up to half a minute, and forgets them', async () => {
    const { clock, outages, signal } = setUp();
    const firstAsked = async () => {
      const { api, atMs } = serverOf(clock, 'well');
      const waiting = outages.waitUntilServing(api, signal);
      await clock.advance(60_000);
      await waiting;
      return atMs[0];
    };
    const found: unknown[] = [];
    for (let outage = 0; outage < 5; outage++) found.push(await firstAsked());
    assert.deepEqual(found, [750, 3_000, 12_000, 22_500, 22_500]);
    await clock.advance(300_000);
    assert.equal(await firstAsked(), 750);
  });

  test('ends at once with its signal', async () => {
    const { clock, outages } = setUp();
    const stopper = new AbortController();
    const { api, atMs } = serverOf(clock, 0);
    const waiting = outages.waitUntilServing(api, stopper.signal);
    await clock.advance(10_000);
    const asked = atMs.length;
    stopper.abort(new Error('Stopped'));
    await waiting;
    assert.equal(atMs.length, asked);
    assert.equal(clock.pending, 0);
  });
});
