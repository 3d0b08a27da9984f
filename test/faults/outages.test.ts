import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { type StateView, untilEqual, untilState } from '../support/fault-proxy/cluster-state.ts';
import { type ExpectedStates, onRequest, writes } from './fault-case.ts';
import { Lane, laneUsers } from './lane.ts';
import { assertAtRest, deletionsOf, replacedBetween, untilQuiet } from './oracle.ts';
import { otherFaults } from './other-faults.ts';
import { faultFreeRun } from './run-case.ts';
import {
  applyStubbornly,
  createAll,
  editAll,
  isSettled,
  objectsPerResource,
  type Place,
  replacedByEdits,
  resourceOf,
  settingsOf,
  stateOptions,
} from './subject.ts';

const users = laneUsers(1);
const shared = useControlPlane({ audit: true, users });

/** A server that is gone for a moment needs time to be itself again. */
const limitMs = 120_000;

shared.describe('faults/outages', () => {
  let lane: Lane;
  let pid: number;
  let expected: ExpectedStates = [];

  before(async () => {
    [lane] = (await Lane.startAll(shared.plane, users)) as [Lane];
    pid = lane.homeostat.pid;
    await shared.plane.restartControllerManager();
    expected = await faultFreeRun(shared, lane);
  });
  after(() => lane?.stop());

  // First, while few resources write: what is written since a restore hides it (docs/reliability.md, known limits).
  test(otherFaults.etcdRestored.name, async () => {
    const place = lane.place(await shared.namespace());
    await createAll(place);
    const options = { ...stateOptions(place), limitMs };
    const first = await untilEqual(options, expected[0] ?? {});
    const since = shared.audit.mark();
    const snapshot = await shared.plane.snapshotEtcd();
    await editAll(place);
    await untilEqual(options, expected[1] ?? {});
    await untilWritten(place, { since, count: 100 });
    await untilQuiet(shared.audit, lane);
    await shared.plane.restoreEtcd(snapshot);
    // What the users want is as old as the rest; nothing that was made for the newer wants may come back.
    const restored = await untilEqual(options, expected[0] ?? {});
    assert.deepEqual(replacedBetween(first, restored), []);
    await untilQuiet(shared.audit, lane);
    await untilEqual(options, expected[0] ?? {});
    await editAll(place);
    const edited = await untilEqual(options, expected[1] ?? {});
    const replaced = replacedBetween(restored, edited);
    assert.deepEqual(
      replaced.filter((key) => !replacedByEdits.has(key)),
      [],
    );
    await untilQuiet(shared.audit, lane);
    await assertAtRest(lane);
    assert.equal(lane.homeostat.pid, pid, 'the process lives');
  });

  test(otherFaults.apiServerKilled.name, async () => {
    const place = lane.place(await shared.namespace());
    const since = shared.audit.mark();
    const kill = killAtWrite(200);
    await createMany(place, 200);
    await kill.untilCount(1);
    const options = { ...stateOptions(place), limitMs };
    const isDone = (view: StateView) =>
      isSettled(view, 200) && view.objects.size === 200 * objectsPerResource + 1;
    const first = await untilState(options, isDone, (last) =>
      assert.fail(`Only ${last?.objects.size} objects`),
    );
    await untilQuiet(shared.audit, lane);
    const last = await untilState(options, isDone, () => assert.fail('Not idle'));
    assert.deepEqual(replacedBetween(first, last), []);
    assert.deepEqual(deletionsOf(shared.audit, lane, { since, ...place }), []);
    await assertAtRest(lane);
    assert.equal(lane.homeostat.pid, pid, 'the process lives');
  });

  /** SIGKILL; the write on its way is lost with the server. */
  function killAtWrite(nth: number) {
    return lane.proxy.inject(
      onRequest(
        'kill the API server',
        {
          kind: 'call',
          async run() {
            await shared.plane.restartApiServer(0);
            return 'drop';
          },
        },
        { when: writes, after: nth - 1, times: 1 },
      ),
    );
  }

  /** So many writes of anybody to the namespace: what a user does to it, more often than the edits alone. */
  async function untilWritten(
    place: Place,
    { since, count }: { readonly since: number; readonly count: number },
  ): Promise<void> {
    const written = () =>
      ['admin', lane.user]
        .flatMap((user) => shared.audit.entries({ user, since }))
        .filter(({ verb, namespace }) => isWrite(verb) && namespace === place.namespace).length;
    for (let round = 0; written() < count; round++) {
      await place.client.apply(settingsOf(place, `round ${round}`));
      await untilQuiet(shared.audit, lane);
    }
  }
});

function isWrite(verb: string): boolean {
  return ['create', 'update', 'patch', 'delete'].includes(verb);
}

/** Many users at once; each tries until a server takes it. */
async function createMany(place: Place, count: number): Promise<void> {
  await place.client.apply(settingsOf(place, 'one'));
  const numbers = Array.from({ length: count }, (_, index) => `p${index}`);
  const create = (name: string) => applyStubbornly(place.client, resourceOf(place, name));
  await Promise.all(numbers.map(create));
}
