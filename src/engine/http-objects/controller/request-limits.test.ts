import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { maxPerOrigin, OriginPlaces, type Release, RequestLimits } from './request-limits.ts';

const { signal } = new AbortController();
const origin = 'https://api.shop.svc';

/** Limits of one of several endpoints of an origin. */
function limitsOf(origins: OriginPlaces, clock = new FakeClock(), concurrent = 20) {
  return new RequestLimits({
    ...{ clock, concurrent, requestsPerSecond: 1000 },
    origin: origins.of(origin),
  });
}

/** Asks for places; returns the function that counts those that were given. */
function ask(limits: RequestLimits, count: number, stop = signal) {
  const given: Release[] = [];
  for (let index = 0; index < count; index++)
    void limits.acquire(stop).then(
      (release) => given.push(release),
      () => {},
    );
  return given;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('http-objects/controller limits', () => {
  test(`all endpoints of an origin share ${maxPerOrigin} concurrent requests`, async () => {
    const origins = new OriginPlaces();
    const first = ask(limitsOf(origins), 15);
    const second = ask(limitsOf(origins), 15);
    const elsewhere = ask(
      new RequestLimits({
        ...{ clock: new FakeClock(), concurrent: 20, requestsPerSecond: 1000 },
        origin: origins.of('https://other.shop.svc'),
      }),
      20,
    );
    await settle();
    assert.deepEqual([first.length, second.length, elsewhere.length], [15, 5, 20]);
    for (const release of first.splice(0, 3)) release();
    await settle();
    assert.equal(second.length, 8);
    // Giving back twice frees one place.
    second[0]?.();
    second[0]?.();
    await settle();
    assert.equal(second.length, 9);
  });

  test('an endpoint has at most its own number of concurrent requests', async () => {
    const given = ask(limitsOf(new OriginPlaces(), new FakeClock(), 4), 10);
    await settle();
    assert.equal(given.length, 4);
    given[0]?.();
    await settle();
    assert.equal(given.length, 5);
  });

  test('requests beyond the rate wait', async () => {
    const clock = new FakeClock();
    const limits = new RequestLimits({
      ...{ clock, concurrent: 20, requestsPerSecond: 2 },
      origin: new OriginPlaces().of(origin),
    });
    const given = ask(limits, 4);
    await settle();
    assert.equal(given.length, 2);
    await clock.advance(500);
    assert.equal(given.length, 3);
    await clock.advance(500);
    assert.equal(given.length, 4);
  });

  test('a request that is aborted while it waits takes no place', async () => {
    const limits = limitsOf(new OriginPlaces(), new FakeClock(), 1);
    const held = ask(limits, 1);
    await settle();
    const stop = new AbortController();
    const waiting = limits.acquire(stop.signal);
    stop.abort(new Error('stop'));
    await assert.rejects(waiting, /stop/);
    held[0]?.();
    const next = ask(limits, 1);
    await settle();
    assert.equal(next.length, 1);
  });
});
