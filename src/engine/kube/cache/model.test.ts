import { describe, test } from 'node:test';
import { CacheModel } from '../../../../test/support/model/cache-model.ts';
import { modelRuns } from '../../../../test/support/model/model-runs.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';

const { runs, firstSeed, steps } = modelRuns();

describe('kube/cache model', () => {
  test(`keeps its contract in ${runs} random interleavings from seed ${firstSeed}`, () => {
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) runOnce(seed);
  });
});

function runOnce(seed: number): void {
  const model = new CacheModel(new SeededRandom(seed));
  try {
    for (let step = 0; step < steps; step += 1) model.step();
    model.rest();
  } catch (error) {
    const message = `HOMEOSTAT_MODEL_SEED=${seed} breaks the contract after:\n${model.log.join('\n')}`;
    throw new Error(message, { cause: error });
  }
}
