import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { untilState } from '../support/fault-proxy/cluster-state.ts';
import { onEvent, onRequest, watches, writes } from './fault-case.ts';
import { Lane, laneUsers } from './lane.ts';
import { assertAtRest, assertHeap, untilQuiet } from './oracle.ts';
import { otherFaults } from './other-faults.ts';
import {
  applyStubbornly,
  isSettled,
  type Place,
  pathOfResource,
  resourceOf,
  stateOptions,
} from './subject.ts';

const users = laneUsers(1);
const shared = useControlPlane({ audit: true, users });

const resources = Array.from({ length: 60 }, (_, index) => `p${index}`);
const rounds = 4;
/** What two rounds with 300 objects each may leave: less than the objects of them, of which each takes two KiB or more. */
const leftoverBytes = 1.5 * 2 ** 20;

shared.describe('faults/leftovers', () => {
  let lane: Lane;

  before(async () => {
    [lane] = (await Lane.startAll(shared.plane, users)) as [Lane];
    // The collector looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
  });
  after(() => lane?.stop());

  test('the oracle of memory notices what is kept', async () => {
    const probe = await lane.probe();
    const before = await probe.heapBytes();
    await probe.evaluate('globalThis.kept = Array.from({ length: 2 ** 20 }, (_, i) => ({ i }))');
    const kept = await probe.heapBytes();
    assert.throws(() => assertHeap(before, kept), /Expected memory to be back/);
    await probe.evaluate('delete globalThis.kept');
    assertHeap(before, await probe.heapBytes());
  });

  test(otherFaults.leftovers.name, async (context) => {
    const heaps: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await comeAndGo(lane.place(await shared.namespace()));
      await untilQuiet(shared.audit, lane);
      await assertAtRest(lane);
      heaps.push(await (await lane.probe()).heapBytes());
    }
    context.diagnostic(`heap: ${heaps.map((bytes) => Math.round(bytes / 1024)).join(', ')} KiB`);
    // After the first round, what runs rarely is still being compiled.
    const [, second = 0] = heaps;
    assert.ok((heaps.at(-1) ?? 0) - second < leftoverBytes, `Heap after each round: ${heaps}`);
  });

  async function comeAndGo(place: Place): Promise<void> {
    const { proxy } = lane;
    const faults = [
      onEvent('cut', { kind: 'cut', midLine: true }, { when: watches, after: 20, times: 3 }),
      onRequest('lost', { kind: 'reset', when: 'after' }, { when: writes, after: 10, times: 20 }),
    ].map((fault) => proxy.inject(fault));
    await Promise.all(
      resources.map((name) => applyStubbornly(place.client, resourceOf(place, name))),
    );
    const isMade = (view: Parameters<typeof isSettled>[0]) => isSettled(view, resources.length);
    await untilState(stateOptions(place), isMade, () => assert.fail('Not all were made'));
    await Promise.all(faults.map((fault) => fault.untilCount(1)));
    await Promise.all(resources.map((name) => place.client.delete(pathOfResource(place, name))));
    await untilState(
      stateOptions(place),
      ({ objects }) => objects.size === 0,
      (last) => assert.fail(`Left: ${Object.keys(last?.uids ?? {})}`),
    );
    proxy.clear();
  }
});
