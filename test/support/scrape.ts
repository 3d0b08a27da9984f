import assert from 'node:assert/strict';
import { type MetricFamily, parseExposition } from './exposition.ts';
import type { HomeostatRuntime } from './homeostat-runtime.ts';
import { patienceMs } from './patience.ts';

const pollMs = 100;
/** Of waits that nothing ends before their time. */
const { signal } = new AbortController();

/** What `/metrics` of a process shows, checked against the format. */
export async function scrape(homeostat: HomeostatRuntime): Promise<readonly MetricFamily[]> {
  const response = await fetch(`${await homeostat.url()}/metrics`);
  assert.equal(response.status, 200);
  return parseExposition(await response.text());
}

/**
 * What `/metrics` shows once the check no longer throws. A watch may tell of a status before the process that wrote it
 * has its answer, and counts it.
 * @throws what the check throws after `patienceMs`.
 */
export async function untilScraped(
  homeostat: HomeostatRuntime,
  check: (families: readonly MetricFamily[]) => void,
): Promise<readonly MetricFamily[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const families = await scrape(homeostat);
    try {
      check(families);
      return families;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await homeostat.clock.sleep(pollMs, signal);
  }
}

/** The sum of the samples of that name whose labels hold `labels`. */
export function valueOfSamples(
  families: readonly MetricFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return families
    .flatMap(({ samples }) => samples)
    .filter((sample) => sample.name === name)
    .filter((sample) =>
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}

/** A health check's answer, asked for again and again until it has that status and those words: it sends no news of its own. */
export async function untilStatus(
  homeostat: HomeostatRuntime,
  path: string,
  status: number,
  words = /^/,
): Promise<string> {
  const deadline = performance.now() + patienceMs;
  const url = `${await homeostat.url()}${path}`;
  for (;;) {
    const response = await fetch(url);
    const text = await response.text();
    if (response.status === status && words.test(text)) return text;
    if (performance.now() > deadline)
      throw new Error(`${path} is not ${status} with ${words}, but ${response.status}: ${text}`);
    await homeostat.clock.sleep(pollMs, signal);
  }
}
