import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHealthServer } from '../../src/http/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { describeAttacks } from './support/attack-rig.ts';
import { startCrowd } from './support/crowd.ts';

const clients = 300;

describeAttacks('attacks/connections', {}, (rig) => {
  test(`${clients} connections that ask for metrics without a pause: one rendering a second, probes and definitions are served`, async () => {
    let renderings = 0;
    const server = await startHealthServer({
      ...{ host: '127.0.0.1', port: 0, metrics: rig.metrics },
      // Not a second passes.
      clock: new FakeClock(),
      view: () => rig.manager.view(),
      observe() {
        renderings += 1;
        rig.manager.observe();
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
});
