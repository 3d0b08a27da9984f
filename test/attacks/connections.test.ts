import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startHealthServer } from '#http';
import { FakeClock } from '../support/fake-clock.ts';
import { describeAttacks } from './support/attack-rig.ts';
import { startCrowd } from './support/crowd.ts';

const clients = 300;

describeAttacks('attacks/connections', {}, (rig) => {
  test(`${clients} connections that ask for metrics without a pause: one rendering a second, probes and definitions are served`, async () => {
    let renderings = 0;
    const server = await startHealthServer({
      host: '127.0.0.1',
      port: 0,
      metrics: rig.metrics,
      // Not a second passes.
      clock: new FakeClock(),
      view: () => ({ ...rig.runtime.view, isStopping: false }),
      observe() {
        renderings += 1;
        rig.runtime.observe();
      },
    });
    const crowd = startCrowd(`${server.url}/metrics`, clients);
    try {
      for (let edits = 0; edits < 10 || crowd.answers < 2 * clients; edits++) await rig.serveGood();
      const before = crowd.answers;
      const probe = await fetch(`${server.url}/healthz`);
      assert.equal(probe.status, 200);
      // Those that came before it, and once more those whose turn it was meanwhile.
      const overtaking = crowd.answers - before;
      assert.ok(overtaking <= 2 * clients, `${overtaking} answers before the one to the probe`);
    } finally {
      await crowd.stop();
      await server.close();
    }
    assert.equal(renderings, 1, `for ${crowd.answers} answers`);
  });

  test('requests that come at once on connections that are open: each turn of the event loop answers one', async () => {
    let answers = 0;
    const server = await startHealthServer({
      host: '127.0.0.1',
      port: 0,
      clock: new FakeClock(),
      observe: () => undefined,
      metrics: {
        expose: async () => 'up 1\n',
        // Looked at for each answer.
        get contentType() {
          answers += 1;
          return 'text/plain';
        },
      },
      view: () => ({ ...rig.runtime.view, isStopping: false }),
    });
    const { hostname, port } = new URL(server.url);
    const sockets = Array.from({ length: 200 }, () => connect(Number(port), hostname));
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      // They are accepted one a turn.
      for (let turn = 0; turn < 2 * sockets.length; turn++) await nextTurn();
      for (const socket of sockets)
        socket.resume().write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
      let most = 0;
      while (answers < sockets.length) {
        const before = answers;
        await nextTurn();
        most = Math.max(most, answers - before);
      }
      assert.equal(most, 1);
    } finally {
      for (const socket of sockets) socket.destroy();
      await server.close();
    }
  });
});
