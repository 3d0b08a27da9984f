import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  failure,
  get,
  never,
  patch,
  useApiClientRig,
} from '../../../../test/support/api-client-rig.ts';
import type { Script } from '../../../../test/support/scripted-server.ts';

const path = '/api/v1/namespaces/kube-system';

describe('kube/client/server-identity', () => {
  const rig = useApiClientRig();
  const identity = () => ({ path, accepts });
  const accepts = (object: unknown) => JSON.stringify(object).includes('"mine"');

  /** A server whose identity a test decides. */
  function answerAs(who: () => string): Script {
    return ({ path: asked }) =>
      asked === path
        ? { status: 200, body: { metadata: { uid: who() } } }
        : { status: 200, body: {} };
  }

  test('a write on a new connection is sent after the identity was checked on another one', async () => {
    const server = await rig.serve(answerAs(() => 'mine'));
    const client = rig.clientFor(server.url, { identity, onOutage: () => {} });
    await client.request(patch, never);
    const asked = server.requests.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(asked, [`GET ${path}`, 'PATCH /a']);
    assert.equal(server.connectionCount, 2);
  });

  test('nothing is written to another cluster, which counts as an outage', async () => {
    let outages = 0;
    const server = await rig.serve(answerAs(() => 'other'));
    const client = rig.clientFor(server.url, {
      identity,
      onOutage: () => outages++,
    });
    const error = await failure(client.request(patch, never));
    assert.equal(error.message, 'Another cluster responds');
    assert.equal(error.isUnreachable, true);
    assert.equal(outages, 1);
    assert.ok(server.requests.every(({ method }) => method === 'GET'));
  });

  test('a server that does not show its identity counts as another one', async () => {
    const server = await rig.serve(({ path: asked }) => ({ status: asked === path ? 403 : 200 }));
    const client = rig.clientFor(server.url, { identity, onOutage: () => {} });
    await failure(client.request(patch, never));
    assert.ok(server.requests.every(({ method }) => method === 'GET'));
  });

  test('no redirect is followed', async () => {
    const other = await rig.serve(() => ({ status: 200, body: {} }));
    const server = await rig.serve(() => ({ status: 302, headers: { location: other.url } }));
    const client = rig.clientFor(server.url);
    await failure(client.request(get, never));
    assert.equal(other.requests.length, 0);
  });

  test('texts of a foreign server that are no Status are not quoted', async () => {
    for (const body of ['<html>secret</html>', { message: 'secret' }]) {
      const server = await rig.serve(() => ({ status: 400, body }));
      const { message } = await failure(
        rig.clientFor(server.url, { isForeign: true }).request(get, never),
      );
      assert.equal(message, 'The API server responded with status 400');
    }
    const status = { kind: 'Status', message: 'no such field' };
    const server = await rig.serve(() => ({ status: 400, body: status }));
    const client = rig.clientFor(server.url, { isForeign: true });
    assert.match((await failure(client.request(get, never))).message, /no such field/);
  });
});
