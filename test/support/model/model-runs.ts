/** How long the model test runs: HOMEOSTAT_MODEL_RUNS=1000000 for long, with HOMEOSTAT_MODEL_SEED=<seed> and 1 to see one again. */
export function modelRuns(standardRuns = 10_000) {
  const { HOMEOSTAT_MODEL_RUNS, HOMEOSTAT_MODEL_SEED, HOMEOSTAT_MODEL_STEPS } = process.env;
  return {
    runs: Number(HOMEOSTAT_MODEL_RUNS ?? standardRuns),
    firstSeed: Number(HOMEOSTAT_MODEL_SEED ?? 1),
    steps: Number(HOMEOSTAT_MODEL_STEPS ?? 60),
  };
}
