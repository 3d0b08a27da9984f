import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modelRuns } from '../../../../test/support/model/model-runs.ts';
import { runOwnedPatchHistory } from '../../../../test/support/model/owned-patch-history.ts';
import { ownedPatchMistakes } from '../../../../test/support/model/owned-patch-mistakes.ts';

const { runs, firstSeed } = modelRuns(100);

describe('reconcile/patch model of withdrawals', () => {
  test(`only what others own is left after ${runs} random histories from seed ${firstSeed}`, async () => {
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1)
      assert.deepEqual(await runOwnedPatchHistory(seed), [], `HOMEOSTAT_MODEL_SEED=${seed}`);
  });

  for (const [name, mistake] of Object.entries(ownedPatchMistakes))
    test(`finds that ${name}`, async () => {
      for (let seed = 1; seed < 400; seed += 1)
        if ((await runOwnedPatchHistory(seed, mistake)).length > 0) return;
      assert.fail('Not found in 400 histories');
    });
});
