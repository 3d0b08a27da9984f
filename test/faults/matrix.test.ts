import { after, before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { clusterCases, processCases, requestCases, watchCases } from './cases/index.ts';
import type { ExpectedStates } from './fault-case.ts';
import { Lane, LanePool, laneUsers } from './lane.ts';
import { faultFreeRun, runCase } from './run-case.ts';

const users = laneUsers(4);
const shared = useControlPlane({ audit: true, users });

/** The longest first, so that none is left over at the end. */
const cases = [...watchCases, ...clusterCases, ...processCases, ...requestCases].sort(
  (a, b) => (b.limitMs ?? 0) - (a.limitMs ?? 0),
);

shared.describe('faults/matrix', { concurrency: users.length }, () => {
  let lanes: readonly Lane[] = [];
  let pool: LanePool;
  let expected: ExpectedStates = [];

  before(async () => {
    lanes = await Lane.startAll(shared.plane, users);
    // The collector looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
    const [first] = lanes;
    if (first !== undefined) expected = await faultFreeRun(shared, first);
    pool = new LanePool(lanes);
  });
  after(() => Promise.all(lanes.map((lane) => lane.stop())));

  for (const faultCase of cases) {
    test(faultCase.name, async (context) => {
      const report = await pool.use((lane) => runCase(faultCase, { shared, lane, expected }));
      context.diagnostic(report);
    });
  }
});
