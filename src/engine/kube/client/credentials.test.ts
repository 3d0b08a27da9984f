import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import {
  arrived,
  failure,
  get,
  never,
  patch,
  useApiClientRig,
} from '../../../../test/support/api-client-rig.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import type { Script } from '../../../../test/support/scripted-server.ts';
import type { Credentials } from '../config/cluster-config.ts';

describe('kube/api-client credentials', () => {
  const { serve, clientFor } = useApiClientRig();

  /** Answers 401 to every token but one. */
  function guarded(token: string): Script {
    return ({ headers }) =>
      headers.authorization === token ? { status: 200, body: {} } : { status: 401 };
  }

  test('are renewed after a 401, and the request is sent once more', async () => {
    const server = await serve(guarded('new'));
    const why: boolean[] = [];
    const client = clientFor(server.url, {
      load: async ({ wasRejected }) => {
        why.push(wasRejected);
        return { headers: { authorization: wasRejected ? 'new' : 'old' } };
      },
    });
    assert.equal((await client.request(patch, never)).status, 200);
    assert.deepEqual(why, [false, true]);
    assert.equal(server.requests.length, 2);
  });

  test('that another manager has renewed meanwhile are taken, not renewed again', async () => {
    let rejectLate: () => void = () => assert.fail('No token is late');
    const server = await serve(({ path, headers }) => {
      if (headers.authorization === 'new') return { status: 200, body: {} };
      if (path === '/a') return { status: 401 };
      return new Promise((resolve) => {
        rejectLate = () => resolve({ status: 401 });
      });
    });
    let loads = 0;
    const client = clientFor(server.url, {
      load: async () => ({ headers: { authorization: loads++ === 0 ? 'old' : 'new' } }),
    });
    const late = client.request({ ...get, path: '/late' }, never);
    await arrived(server, 1);
    assert.equal((await client.request(get, never)).status, 200);
    rejectLate();
    assert.equal((await late).status, 200);
    assert.equal(loads, 2);
  });

  test('that stay the same are not tried again', async () => {
    const server = await serve(guarded('new'));
    const load = async () => ({ headers: { authorization: 'old' } });
    const client = clientFor(server.url, { load });
    assert.equal((await failure(client.request(get, never))).code, 'unauthorized');
    assert.equal(server.requests.length, 1);
  });

  test('that are rejected are renewed by one for all, and at most every ten seconds', async () => {
    const server = await serve(guarded('none'));
    let loads = 0;
    const load = async () => ({ headers: { authorization: `token-${loads++}` } });
    const clock = new FakeClock();
    const client = clientFor(server.url, { clock, load });
    await Promise.all(Array.from({ length: 20 }, () => failure(client.request(get, never))));
    await failure(client.request(get, never));
    assert.equal(loads, 2);
    await clock.advance(10_000);
    await failure(client.request(get, never));
    assert.equal(loads, 3);
  });

  test('are read again after 30 seconds, and the old ones kept while that fails', async () => {
    const server = await serve(() => ({ status: 200, body: {} }));
    const loads: (() => Credentials)[] = [
      () => ({ headers: { authorization: 'first' } }),
      () => {
        throw new Error('file is gone');
      },
      () => ({ headers: { authorization: 'third' } }),
    ];
    const clock = new FakeClock();
    const load = async () => (loads.shift() ?? assert.fail('read too often'))();
    const client = clientFor(server.url, { clock, load });
    for (const waitMs of [29_999, 1, 30_000, 0]) {
      await client.request(get, never);
      await clock.advance(waitMs);
    }
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      ['first', 'first', 'first', 'third'],
    );
  });

  test('that cannot be had at all make every request fail, and say why', async () => {
    const client = clientFor('http://127.0.0.1:9', {
      load: () => Promise.reject(new Error('no such plugin')),
    });
    const error = await failure(client.request(get, never));
    assert.deepEqual([error.code, error.status], ['unauthorized', 0]);
    assert.match(error.message, /no such plugin/);
  });

  test('that never come can be given up waiting for', async () => {
    const stop = new AbortController();
    const client = clientFor('http://127.0.0.1:9', { load: () => new Promise(() => undefined) });
    const waiting = failure(client.request(get, stop.signal));
    await settle();
    stop.abort(new Error('enough'));
    assert.equal((await waiting).code, 'aborted');
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  });
});
