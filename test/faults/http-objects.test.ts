import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runHistory } from '../support/http-objects/run-history.ts';
import { modelRuns } from '../support/model/model-runs.ts';

/** More histories of the model of `src/engine/http-objects/model.test.ts`: kills at every await, lost and late answers, drift. */
const { runs, firstSeed } = modelRuns(2_000);
const parts = 10;

describe('faults/http-objects', () => {
  for (let part = 0; part < parts; part += 1) {
    const from = firstSeed + 10_000 + Math.floor((part * runs) / parts);
    const to = firstSeed + 10_000 + Math.floor(((part + 1) * runs) / parts);
    test(`the API equals the HttpObjects after each history from seed ${from} to ${to - 1}`, async () => {
      for (let seed = from; seed < to; seed += 1)
        assert.deepEqual(await runHistory(seed), [], `Seed ${seed}`);
    });
  }
});
