import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { memberClients } from '#cli/member-clients.ts';
import { createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';
import { configOf } from './support/hostile-connection.ts';

const heapBytes = 33_554_432;
const members = 12;
const lists = 4;
const page = JSON.stringify({ kind: 'List', items: ['x'.repeat(300_000)] });
const flow = { name: 'test', priority: 'object' } as const;
const { signal } = new AbortController();

/** Members of one hub, without anything in their caches. */
async function useFleet(
  server: ScriptedServer,
  body: (
    read: (member: number, path: string) => Promise<unknown>,
    ended: readonly number[],
  ) => Promise<void>,
): Promise<void> {
  const shared = { clock: createSystemClock(), random: createSystemRandom() };
  const connect = memberClients({ ...shared, logger: silentLogger(), heapBytes });
  const ended: number[] = [];
  const clients = Array.from({ length: members }, (_, member) => {
    const client = connect(configOf(server), {
      name: `member-${member}`,
      metrics: freshMetrics(),
      onExceeded() {
        ended.push(member);
        void client.cluster.disconnect();
      },
    });
    return client;
  });
  const read = async (member: number, path: string) =>
    (await clients[member]?.cluster.api.request({ method: 'GET', path, flow }, signal))?.body;
  try {
    await body(read, ended);
  } finally {
    for (const { close } of clients) await close();
    await server.stop();
  }
}

describe('attacks/members: a healthy fleet', () => {
  test('lists of all members at once wait for each other, and end no member', async () => {
    const open: ServerResponse[] = [];
    const server = await ScriptedServer.start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(page.slice(0, -1));
      open.push(response);
      // All have sent nearly everything before the first ends: 14 MB, where 8 MiB fit.
      if (open.length === members * lists) for (const each of open) each.end(page.slice(-1));
      return undefined;
    });
    await useFleet(server, async (read, ended) => {
      const all = Array.from({ length: members * lists }, (_, index) =>
        read(index % members, '/api/v1/pods').then(() => 'read', String),
      );
      assert.deepEqual(new Set(await Promise.all(all)), new Set(['read']));
      assert.deepEqual(ended, []);
    });
  });

  test('responses of one member that never end delay no small response of another', async () => {
    const filled = Promise.withResolvers<void>();
    let endless = 0;
    const server = await ScriptedServer.start(({ path }, response) => {
      if (path !== '/endless') return { status: 200, body: { ok: true } };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`["${'x'.repeat(2_000_000)}`);
      endless += 1;
      if (endless === 6) filled.resolve();
      return undefined;
    });
    await useFleet(server, async (read, ended) => {
      const hostile = Array.from({ length: 6 }, () => read(0, '/endless').catch(String));
      await filled.promise;
      for (let member = 0; member < members; member++)
        assert.deepEqual(await read(member, '/api/v1/namespaces/a'), { ok: true });
      assert.deepEqual(ended, []);
      await server.stop();
      await Promise.all(hostile);
    });
  });
});
