import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpClient } from './http-client.ts';
import { configMapsPath } from './objects.ts';
import type { Row } from './row.ts';
import { withServed } from './served.ts';

const watchers = 50;
const writesPerSecond = 1_000;
const seconds = 5;
const targetMs = 100;

/** How late each of many watchers hears of writes at a steady rate: from the beginning of the write to its event. */
export function measureWatchers(): Promise<readonly Row[]> {
  return withServed(async (url) => {
    const client = createHttpClient(url, 16);
    const lags: number[] = [];
    const sentAt: number[] = [];
    let events = 0;
    const onText = (text: string) => {
      for (const match of text.matchAll(/"number":"(\d+)"/g)) {
        events++;
        lags.push(performance.now() - (sentAt[Number(match[1])] ?? 0));
      }
    };
    const stops = await Promise.all(
      Array.from({ length: watchers }, () => client.stream(`${configMapsPath}?watch=1`, onText)),
    );
    const total = writesPerSecond * seconds;
    const start = performance.now();
    const writes: Promise<string>[] = [];
    while (writes.length < total) {
      const due = Math.min(total, ((performance.now() - start) / 1000) * writesPerSecond);
      while (writes.length < due) writes.push(write(writes.length));
      await sleep(1);
    }
    await Promise.all(writes);
    const tookSeconds = (performance.now() - start) / 1000;
    while (events < total * watchers) await sleep(5);
    for (const stop of stops) stop();
    client.close();
    lags.sort((a, b) => a - b);
    const p99 = Math.round(lags[Math.floor(lags.length * 0.99)] ?? 0);
    const rate = Math.round(total / tookSeconds);
    return [
      {
        what: `${watchers} watchers: writes`,
        value: rate,
        unit: '/s',
        target: `>= ${writesPerSecond * 0.95}`,
        isMet: rate >= writesPerSecond * 0.95,
      },
      {
        what: `${watchers} watchers: write to event, p99`,
        value: p99,
        unit: 'ms',
        target: `< ${targetMs}`,
        isMet: p99 < targetMs,
      },
    ];

    function write(number: number): Promise<string> {
      sentAt[number] = performance.now();
      const name = `c-${number % 100}`;
      const data = { number: String(number) };
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
      return client.send('PATCH', `${configMapsPath}/${name}?fieldManager=bench`, manifest);
    }
  });
}
