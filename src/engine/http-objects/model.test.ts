import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runHistory } from '../../../test/support/http-objects/run-history.ts';
import { seededErrors } from '../../../test/support/http-objects/seeded-errors.ts';
import { modelRuns } from '../../../test/support/model/model-runs.ts';

/** `test/faults` runs more of them. */
const { runs, firstSeed } = modelRuns(100);

describe('http-objects model', () => {
  test(`the API equals the HttpObjects after ${runs} random histories from seed ${firstSeed}`, async () => {
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1)
      assert.deepEqual(await runHistory(seed), [], `HOMEOSTAT_MODEL_SEED=${seed}`);
  });

  for (const [name, seeded] of Object.entries(seededErrors))
    test(`finds that ${name}`, async () => {
      for (let seed = 1; seed < 400; seed += 1)
        if ((await runHistory(seed, seeded)).length > 0) return;
      assert.fail('Not found in 400 histories');
    });
});
