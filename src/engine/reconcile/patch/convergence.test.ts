import { describe, test } from 'node:test';
import { convergenceRuns } from '../../../../test/support/model/operator-history.ts';
import { PatchHistory } from '../../../../test/support/model/patch-history.ts';

const { count, firstSeed } = convergenceRuns;

describe('reconcile/patch convergence', () => {
  test(`patches come to what is wanted after ${count} random histories from seed ${firstSeed}`, async () => {
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const history = new PatchHistory(seed);
      try {
        await history.run();
      } catch (error) {
        const message = `HOMEOSTAT_CONVERGENCE_SEED=${seed} does not converge after:\n${history.log.join('\n')}`;
        throw new Error(message, { cause: error });
      }
    }
  });
});
