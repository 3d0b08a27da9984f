import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { ClusterSession } from './cluster-session.ts';
import { watchTables } from './watch-tables.ts';

const gvk = { group: '', version: 'v1', kind: 'Pod' };
const watch = {
  kind: { gvk, plural: 'pods', namespaced: true } as never,
  selection: {},
  accept: 'application/json',
  resourceVersion: '4',
};
const eventOf = (version: string) =>
  JSON.stringify({ type: 'MODIFIED', object: { metadata: { resourceVersion: version } } });

test('a watch that ends within an event is opened again after the last whole one', async () => {
  const stopper = new AbortController();
  const versions: unknown[] = [];
  const shown: unknown[] = [];
  const streams = [
    [`${eventOf('5')}\n`, eventOf('6').slice(0, 20)],
    [`${eventOf('6')}\n`, '{'],
  ];
  const api = {
    stream: async ({ query }: { readonly query: Readonly<Record<string, string>> }) => {
      versions.push(query.resourceVersion);
      const texts = streams.shift() ?? [];
      if (streams.length === 0) stopper.abort();
      return { chunks: chunksOf(texts), close: () => {} };
    },
  };
  const clock = new FakeClock();
  const session = { cluster: { api }, clock, namespace: 'default', signal: stopper.signal };
  const watching = watchTables(session as unknown as ClusterSession, {
    ...watch,
    onTable: (table) => shown.push(table),
  });
  await clock.advance(1_000);
  await watching;
  assert.deepEqual(versions, ['4', '5']);
  assert.deepEqual(shown, [
    { metadata: { resourceVersion: '5' } },
    { metadata: { resourceVersion: '6' } },
  ]);
});

test('a watch that the server ends at once is opened again after pauses that double, and end with one that lasts', async () => {
  const stopper = new AbortController();
  const clock = new FakeClock();
  const startMs = clock.monotonicMs();
  const opened: number[] = [];
  let lastsMs = 0;
  const api = {
    stream: async () => {
      opened.push(clock.monotonicMs() - startMs);
      // A server that opens watches without an end.
      if (opened.length > 500) await new Promise(() => {});
      async function* chunks() {
        if (lastsMs > 0) await clock.sleep(lastsMs, stopper.signal);
        yield `${eventOf('5')}\n`;
      }
      return { chunks: chunks(), close: () => {} };
    },
  };
  const session = { cluster: { api }, clock, namespace: 'default', signal: stopper.signal };
  const watching = watchTables(session as unknown as ClusterSession, {
    ...watch,
    onTable: () => {},
  });
  await clock.advance(0);
  await clock.advance(100);
  assert.deepEqual(opened, [0, 100]);
  await clock.advance(200 + 400 + 800);
  assert.deepEqual(opened, [0, 100, 300, 700, 1_500]);
  await clock.advance(3_600_000);
  assert.ok(opened.length < 140, String(opened.length));
  lastsMs = 60_000;
  await clock.advance(90_000);
  opened.splice(0);
  lastsMs = 0;
  await clock.advance(62_000);
  assert.ok(opened.length >= 4, String(opened.length));
  stopper.abort();
  await watching;
});

async function* chunksOf(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}
