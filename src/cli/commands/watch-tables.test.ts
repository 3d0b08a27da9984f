import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSession } from './cluster-session.ts';
import { watchTables } from './watch-tables.ts';

const gvk = { group: '', version: 'v1', kind: 'Pod' };
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
  const session = { cluster: { api }, namespace: 'default', signal: stopper.signal };
  await watchTables(session as unknown as ClusterSession, {
    kind: { gvk, plural: 'pods', namespaced: true } as never,
    selection: {},
    accept: 'application/json',
    resourceVersion: '4',
    onTable: (table) => shown.push(table),
  });
  assert.deepEqual(versions, ['4', '5']);
  assert.deepEqual(shown, [
    { metadata: { resourceVersion: '5' } },
    { metadata: { resourceVersion: '6' } },
  ]);
});

async function* chunksOf(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}
