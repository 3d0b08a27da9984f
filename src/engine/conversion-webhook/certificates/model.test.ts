import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CertificateWorld } from '../../../../test/support/conversion/certificate-world.ts';
import { modelRuns } from '../../../../test/support/model/model-runs.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';

const { runs, firstSeed } = modelRuns(1);
const hourMs = 3_600_000;
const skewMs = 600_000;

describe('conversion-webhook/certificates model', () => {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    test(`no server serves what a CRD does not trust, whatever is killed at a write (seed ${seed})`, async () => {
      await live(new SeededRandom(seed));
    });
    test(`a Secret that is deleted or broken is made anew while servers keep their leaf (seed ${seed})`, async () => {
      await lose(new SeededRandom(seed + 1_000_000));
    });
  }
});

/** Through two changes of the authority, with servers that are killed before and after their writes. */
async function live(random: SeededRandom): Promise<void> {
  const world = new CertificateWorld();
  const start = () =>
    world.start({
      aheadMs: random.below(2 * skewMs) - skewMs,
      dies: () => random.chance(0.2),
    });
  start();
  start();
  const seen = new Set<string | undefined>();
  for (let step = 0; step < 5_000 && seen.size < 3; step++) {
    const isQuiet = world.isSteady && world.crds.length > 0;
    await world.pass(isQuiet ? hourMs : 1_000 + random.below(2_000), () => random.chance(0.8));
    if (world.state !== undefined && world.crds.length < 3) world.addCrd();
    if (random.chance(0.2)) world.lead();
    if (random.chance(0.5)) world.notice();
    while (world.servers.length < 2) start();
    assert.deepEqual(world.failures(), []);
    if (world.isSteady) seen.add(world.state?.authority?.fingerprint);
  }
  assert.equal(seen.size, 3, 'the authority was changed twice');
  await settled(world);
  await world.end();
}

/** The Secret is lost in any step, and servers live. */
async function lose(random: SeededRandom): Promise<void> {
  const world = new CertificateWorld();
  world.start();
  world.start({ aheadMs: random.below(2 * skewMs) - skewMs });
  await settled(world);
  world.addCrd();
  world.addCrd();
  for (let loss = 0; loss < 3; loss++) {
    if (random.chance(0.5)) world.spoil(random.pick(['tls.key', 'ca.key', 'ca-bundle.crt']) ?? '');
    else world.remove();
    for (let step = random.below(40); step > 0; step--) {
      await world.pass(random.below(2_000), () => random.chance(0.8));
      if (random.chance(0.7)) world.lead();
      world.notice();
      assert.deepEqual(world.failures(), []);
    }
  }
  await settled(world);
  await world.end();
}

/** Without faults, everything becomes equal. */
async function settled(world: CertificateWorld): Promise<void> {
  for (let step = 0; step < 2_000 && !(step > 10 && world.isSteady); step++) {
    await world.pass(2_000);
    world.lead();
    world.notice();
    assert.deepEqual(world.failures(), []);
  }
  await world.pass(1_000);
  const { state } = world;
  assert.ok(world.isSteady && state, 'no change of the authority is left');
  assert.deepEqual(
    state.bundle.map(({ fingerprint }) => fingerprint),
    [state.authority?.fingerprint],
  );
  for (const { keeper } of world.servers)
    assert.equal(keeper.current?.fingerprint, state.leaf?.fingerprint);
  for (let step = 0; step < 5; step++) world.lead();
  for (const { bundle } of world.crds)
    assert.deepEqual(
      bundle.map(({ fingerprint }) => fingerprint),
      [state.authority?.fingerprint],
    );
}
