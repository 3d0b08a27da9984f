import { describe, test } from 'node:test';
import { convergenceRuns, OperatorHistory } from '../../../test/support/model/operator-history.ts';

const { count, firstSeed } = convergenceRuns;

describe('reconcile/convergence', () => {
  for (const binding of ['owner references', 'labels', 'strategies'] as const) {
    test(`comes to what is wanted, with ${binding}, after ${count} random histories from seed ${firstSeed}`, async () => {
      for (let seed = firstSeed; seed < firstSeed + count; seed++) {
        const history = new OperatorHistory(seed, binding);
        try {
          await history.run();
        } catch (error) {
          const message = `HOMEOSTAT_CONVERGENCE_SEED=${seed} does not converge after:\n${history.log.join('\n')}`;
          throw new Error(message, { cause: error });
        }
      }
    });
  }
});
