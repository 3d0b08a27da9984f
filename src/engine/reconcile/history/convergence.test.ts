import { describe, test } from 'node:test';
import { convergenceRuns } from '../../../../test/support/model/operator-history.ts';
import { RecordingHistory } from '../../../../test/support/model/recording-history.ts';

const { count, firstSeed } = convergenceRuns;

describe('reconcile/history convergence', () => {
  test(`versions are a part of the true history, and nothing is overwritten unrecorded, in ${count} random histories from seed ${firstSeed}`, async () => {
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const history = new RecordingHistory(seed);
      try {
        await history.run();
      } catch (error) {
        const message = `HOMEOSTAT_CONVERGENCE_SEED=${seed} is not recorded after:\n${history.log.join('\n')}`;
        throw new Error(message, { cause: error });
      }
    }
  });
});
