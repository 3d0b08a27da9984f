import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { silentLogger } from '#telemetry';
import { isJsonObject } from '#util/json.ts';
import { Simulation } from './simulation.ts';
import { SimulationClock } from './simulation-clock.ts';

const file = 'operators/podset.yaml';
const podsets = '/apis/apps.example.com/v1alpha1/namespaces/default/podsets';
const podset = {
  apiVersion: 'apps.example.com/v1alpha1',
  kind: 'PodSet',
  metadata: { name: 'web' },
  spec: { size: 2 },
};

async function startSimulation(seed?: number): Promise<Simulation> {
  const simulation = new Simulation({
    definitions: [{ file, text: readFileSync(file, 'utf8') }],
    logger: silentLogger,
    ...(seed !== undefined && { seed }),
  });
  await simulation.start();
  const isRunning = () =>
    simulation.runtime?.view.definitions.every(({ state }) => state.kind === 'running') === true;
  await simulation.advanceUntil(
    () => simulation.runtime?.view.definitions.length === 1 && isRunning(),
    60_000,
  );
  return simulation;
}

async function statusOf(simulation: Simulation) {
  const found = await simulation.get(`${podsets}/web`);
  return isJsonObject(found) ? found.status : undefined;
}

describe('simulation', () => {
  test('operators reconcile, and the same seed gives the same cluster', async () => {
    const states: string[] = [];
    for (let run = 0; run < 2; run++) {
      const simulation = await startSimulation(7);
      await simulation.request({ method: 'POST', path: podsets, body: podset });
      await simulation.advance(10_000);
      const status = await statusOf(simulation);
      assert.ok(isJsonObject(status));
      assert.equal(status.readyReplicas, 2);
      states.push(simulation.sandbox.snapshotText());
      await simulation.close();
    }
    assert.equal(states[0], states[1]);
  });

  test('operators that are stopped do nothing, and continue when they are started again', async () => {
    const simulation = await startSimulation();
    await simulation.stop();
    assert.equal(simulation.runtime, undefined);
    await simulation.request({ method: 'POST', path: podsets, body: podset });
    await simulation.advance(60_000);
    assert.equal(await statusOf(simulation), undefined);
    await simulation.start();
    await simulation.advance(10_000);
    const status = await statusOf(simulation);
    assert.ok(isJsonObject(status));
    assert.equal(status.readyReplicas, 2);
    await simulation.close();
  });

  test('timers run in their order, and time stands still between them', async () => {
    const clock = new SimulationClock(1_000);
    const ran: string[] = [];
    const run = (name: string) => () => void ran.push(`${name} ${clock.nowMs()}`);
    clock.after(20, run('b'));
    clock.after(10, run('a'));
    clock.after(20, run('c'));
    const cancel = clock.after(15, run('never'));
    cancel();
    assert.deepEqual([clock.nowMs(), ran], [1_000, []]);
    while (clock.runNextTimer(1_020));
    assert.deepEqual(ran, ['a 1010', 'b 1020', 'c 1020']);
    clock.after(50, run('d'));
    assert.equal(clock.runNextTimer(1_060), false);
    assert.equal(clock.nowMs(), 1_060);
  });
});
