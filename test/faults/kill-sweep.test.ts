import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AuditLog, useControlPlane } from '../support/control-plane/index.ts';
import {
  type ClusterState,
  type StateView,
  untilEqual,
  untilState,
} from '../support/fault-proxy/cluster-state.ts';
import { matching, type RequestAction } from '../support/fault-proxy/index.ts';
import { onRequest } from './fault-case.ts';
import { Lane, LanePool, laneUsers } from './lane.ts';
import { assertAtRest, deletionsOf, replacedBetween, untilQuiet } from './oracle.ts';
import { otherFaults } from './other-faults.ts';
import { isSettled, type Place, resourceOf, settingsOf, stateOptions } from './subject.ts';

/** What has become of the write at which the process is killed. */
const fates = [
  'not carried out',
  'carried out, its answer lost',
  'carried out and answered',
] as const;
type Fate = (typeof fates)[number];

const users = laneUsers(fates.length);
const shared = useControlPlane({ audit: true, users });

/** A whole pass makes so many writes at least: three ConfigMaps, a Deployment and a status. */
const leastWrites = { created: 5, edited: 4 };

interface SweepRun {
  readonly lane: Lane;
  readonly place: Place;
  readonly fate: Fate;
  readonly nth: number;
}

shared.describe('faults/kill-sweep', { concurrency: users.length }, () => {
  let lanes: readonly Lane[] = [];
  let pool: LanePool;
  let expected: Readonly<Record<Phase, ClusterState>>;

  before(async () => {
    lanes = await Lane.startAll(shared.plane, users);
    await shared.plane.restartControllerManager();
    const [first] = lanes;
    if (first !== undefined) expected = await faultFree(first);
    pool = new LanePool(lanes);
  });
  after(() => Promise.all(lanes.map((lane) => lane.stop())));

  for (const fate of fates) {
    test(`${otherFaults.killSweep.name}: ${fate}`, async (context) => {
      const reached = await pool.use((lane) => sweep(lane, fate));
      context.diagnostic(`writes: ${reached.created} of a creation, ${reached.edited} of an edit`);
      assert.ok(reached.created >= leastWrites.created, 'every write of a creation was met');
      assert.ok(reached.edited >= leastWrites.edited, 'every write of an edit was met');
    });
  }

  async function faultFree(lane: Lane): Promise<Readonly<Record<Phase, ClusterState>>> {
    const place = lane.place(await shared.namespace());
    await place.client.apply(settingsOf(place, 'one'));
    const states: Partial<Record<Phase, ClusterState>> = {};
    for (const phase of phases) {
      await actions[phase](place);
      await untilQuiet(shared.audit, lane);
      const isWell = (view: StateView) => isSettled(view, 1);
      const view = await untilState(stateOptions(place), isWell, () => assert.fail('Not settled'));
      states[phase] = view.state;
    }
    return states as Record<Phase, ClusterState>;
  }

  /** Kills at the first write, then at the second, until a run has no more. Returns how far it came. */
  async function sweep(lane: Lane, fate: Fate): Promise<Record<Phase, number>> {
    const reached = { created: 0, edited: 0 };
    for (let nth = 1; ; nth++) {
      const place = lane.place(await shared.namespace());
      await place.client.apply(settingsOf(place, 'one'));
      const created = await killed('created', { lane, place, fate, nth });
      const edited = await killed('edited', { lane, place, fate, nth });
      if (created) reached.created = nth;
      if (edited) reached.edited = nth;
      if (!created && !edited) return reached;
    }
  }

  /** Whether there was such a write: the process was then killed, and another one has brought the cluster to what it should be. */
  async function killed(phase: Phase, run: SweepRun): Promise<boolean> {
    const { lane, place } = run;
    const options = stateOptions(place);
    const before = phase === 'edited' ? await untilEqual(options, expected.created) : undefined;
    const since = shared.audit.mark();
    await lane.untilWatching();
    const kill = injectKill(run);
    await actions[phase](place);
    const isOver = await isEqualAtRest(lane, { place, kill, state: expected[phase] });
    if (!isOver) await restartAfter(lane);
    kill.remove();
    const view = await untilEqual(options, expected[phase]);
    await untilQuiet(shared.audit, lane);
    const last = await untilEqual(options, expected[phase]);
    assert.deepEqual(replacedBetween(view, last), []);
    const kept = before === undefined ? [] : replacedBetween(before, last);
    assert.deepEqual(kept, phase === 'edited' ? ['configmaps/k-x'] : [], 'the rest was kept');
    const deleted = deletionsOf(shared.audit, lane, { since, ...place });
    assert.deepEqual(deleted, phase === 'edited' ? ['configmaps/k-x'] : []);
    assert.deepEqual(createdTwice(shared.audit, { lane, since }), []);
    await assertAtRest(lane);
    return !isOver;
  }

  /** False as soon as the process was killed. */
  async function isEqualAtRest(
    lane: Lane,
    {
      place,
      kill,
      state,
    }: { place: Place; kill: ReturnType<typeof injectKill>; state: ClusterState },
  ): Promise<boolean> {
    const equal = untilEqual(stateOptions(place), state).then(() => untilQuiet(shared.audit, lane));
    const wasKilled = kill.untilCount(1).then(() => 'killed');
    // Which of the two comes first decides; the other one may then end as it likes.
    const first = await Promise.race([equal, wasKilled.catch(() => 'equal')]);
    equal.catch(() => undefined);
    return first !== 'killed' && kill.count === 0;
  }
});

const phases = ['created', 'edited'] as const;
type Phase = (typeof phases)[number];

const actions: Readonly<Record<Phase, (place: Place) => Promise<unknown>>> = {
  created: (place) => place.client.apply(resourceOf(place, 'k')),
  edited: (place) =>
    place.client.apply(resourceOf(place, 'k', { greeting: 'good day', parts: ['y', 'z'] })),
};

function injectKill({ lane, place, fate, nth }: SweepRun) {
  const isWrite = matching({ verb: ['apply', 'delete'] });
  return lane.proxy.inject(
    onRequest(`kill at write ${nth}`, killAction(lane, fate), {
      when: (request) => isWrite(request) && request.namespace === place.namespace,
      after: nth - 1,
      times: 1,
    }),
  );
}

function killAction(lane: Lane, fate: Fate): RequestAction {
  if (fate === 'carried out and answered') {
    return { kind: 'call', run: async () => 'forward', answered: () => lane.kill() };
  }
  return {
    kind: 'call',
    async run() {
      await lane.kill();
      return fate === 'not carried out' ? 'drop' : 'forward';
    },
  };
}

async function restartAfter(lane: Lane): Promise<void> {
  await lane.homeostat.ended();
  lane.startAgain();
  await lane.whenReady();
}

/** Objects that a runtime has created more than once since a mark. */
function createdTwice(
  audit: AuditLog,
  { lane, since }: { readonly lane: Lane; readonly since: number },
): readonly string[] {
  const created = audit
    .entries({ user: lane.user, since })
    .filter(({ verb, status }) => verb === 'patch' && status === 201)
    .map(({ resource, name }) => `${resource}/${name}`);
  return created.filter((key, index) => created.indexOf(key) !== index);
}
