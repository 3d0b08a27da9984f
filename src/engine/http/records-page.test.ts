import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMetricRegistry } from '#telemetry';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { startHealthServer } from './health-server.ts';
import type { RecordsOptions } from './records-page.ts';

const token = '0123456789abcdef';
const thing = '?apiVersion=example.com/v1&kind=Thing&namespace=ns&name=a';

async function withServer(
  records: Partial<RecordsOptions> | undefined,
  use: (
    ask: (query: string, headers?: Record<string, string>) => Promise<Response>,
  ) => Promise<void>,
) {
  const server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    clock: new FakeClock(),
    metrics: createMetricRegistry(),
    view: () => ({
      unreachable: undefined,
      isStopping: false,
      rejected: [],
      warnings: [],
      definitions: [],
    }),
    observe: () => undefined,
    ...(records && {
      records: {
        readToken: async () => token,
        read: (query) => ({ query: query ?? null }),
        ...records,
      },
    }),
  });
  try {
    await use((query, headers = { authorization: `Bearer ${token}` }) =>
      fetch(`${server.url}/records${query}`, { headers }),
    );
  } finally {
    await server.close();
  }
}

describe('http/records-page', () => {
  test('there is no such page unless reconciles are recorded', async () => {
    await withServer(undefined, async (ask) => {
      assert.equal((await ask(thing)).status, 404);
    });
  });

  test('answers a query with the token, in either header', async () => {
    await withServer({}, async (ask) => {
      const response = await ask(`${thing}&cluster=eu&after=7`);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.deepEqual(await response.json(), {
        query: {
          apiVersion: 'example.com/v1',
          kind: 'Thing',
          namespace: 'ns',
          name: 'a',
          cluster: 'eu',
          after: 7,
        },
      });
      const other = await ask(thing, { 'x-homeostat-records-token': token });
      assert.equal(other.status, 200);
      assert.deepEqual(await (await ask('')).json(), { query: null });
    });
  });

  for (const [title, headers] of [
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer 0123456789abcdeX' }],
    ['a token that is not a bearer token', { authorization: `Basic ${token}` }],
    ['a longer token', { authorization: `Bearer ${token}0` }],
  ] satisfies readonly (readonly [string, Record<string, string>])[])
    test(`rejects ${title}`, async () => {
      await withServer({ read: () => assert.fail('The answer is computed') }, async (ask) => {
        const response = await ask(thing, headers);
        assert.equal(response.status, 401);
        assert.equal(response.headers.get('www-authenticate'), 'Bearer');
      });
    });

  test('permits nothing while the token cannot be read, or is empty', async () => {
    for (const readToken of [() => Promise.reject(new Error('gone')), async () => ''])
      await withServer({ readToken }, async (ask) => {
        assert.equal((await ask(thing)).status, 503);
        assert.equal((await ask(thing, { authorization: 'Bearer ' })).status, 503);
      });
  });

  test('reads the token with each request', async () => {
    const tokens = ['first-token-0123', token];
    await withServer({ readToken: async () => tokens.shift() ?? '' }, async (ask) => {
      assert.equal((await ask(thing)).status, 401);
      assert.equal((await ask(thing)).status, 200);
    });
  });

  test('a process that is not the leader says so, and a wrong query is rejected', async () => {
    await withServer({ read: () => undefined }, async (ask) => {
      assert.equal((await ask(thing)).status, 503);
      assert.equal((await ask('?kind=Thing')).status, 400);
      assert.equal((await ask(`${thing}&after=x`)).status, 400);
      assert.equal((await ask(`${thing}&after=-1`)).status, 400);
    });
  });
});
