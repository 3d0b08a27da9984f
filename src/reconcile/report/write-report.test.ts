import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError, type KubeErrorCode } from '../../kube/roles.ts';
import { isJsonObject } from '../../util/json.ts';

const key = 'default/a';
const permanentMs = 600_000;
const words = 'status: status.phase: Unsupported value: "Bad"';

const mapping: HandmadePlan = {
  status: {
    phase: ({ resource }) => resource.spec.phase,
    size: ({ resource }) => resource.spec.size,
  },
};

function refusal(code: KubeErrorCode = 'rejected'): KubeError {
  const message = 'Unsupported value: "Bad"';
  return new KubeError(code, `PodSet "a" is invalid: status.phase: ${message}`, {
    status: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueNotSupported', field: 'status.phase', message }],
  });
}

/** A world whose server refuses each status with the phase `Bad`. */
async function worldOf(plan: HandmadePlan, spec: unknown) {
  const world = new OperatorWorld(planOf(plan));
  await world.start();
  world.cluster.fault = ({ verb, manifest }) => {
    const status = isJsonObject(manifest?.status) ? manifest.status : {};
    return verb === 'status' && status.phase === 'Bad' ? refusal() : undefined;
  };
  const podSet = world.podSet('a', spec);
  await world.settle();
  return { world, podSet };
}

function mapped(world: OperatorWorld) {
  const { phase, size } = world.status('a');
  return { phase, size };
}

describe('reconcile/report: a status that the server rejects', () => {
  test("is written without the author's fields when they have never been written", async () => {
    const { world } = await worldOf(mapping, { phase: 'Bad', size: 1 });
    assert.deepEqual(mapped(world), { phase: undefined, size: undefined });
    assert.equal(world.ready('a'), `False ApplyFailed: ${words}`);
    assert.equal(world.status('a').observedGeneration, 1);
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a', 'status PodSet/a']);
    assert.deepEqual(world.passes, [
      { key, end: { kind: 'failed', afterMs: permanentMs, reason: 'ApplyFailed' } },
    ]);
    assert.deepEqual(
      world.cluster.told.map(({ note }) => note),
      [words],
    );
  });

  test("keeps the last values of the author's fields, and says that a user has to act", async () => {
    const { world, podSet } = await worldOf(mapping, { phase: 'Good', size: 1 });
    world.edit(podSet, { spec: { phase: 'Bad', size: 2 } });
    await world.settle();
    assert.deepEqual(mapped(world), { phase: 'Good', size: 1 });
    assert.equal(world.ready('a'), `False ApplyFailed: ${words}`);
    const conditions = world.status('a').conditions as readonly { type: string }[];
    assert.deepEqual(
      conditions.map(({ type }) => type),
      ['Ready', 'Stalled'],
    );
    assert.equal(world.status('a').observedGeneration, 2);
  });

  test('is not sent again while it is the same', async () => {
    const { world } = await worldOf(mapping, { phase: 'Bad' });
    world.cluster.takeWrites();
    await world.clock.advance(permanentMs - 1);
    assert.deepEqual(await world.runOne(key), {
      kind: 'failed',
      afterMs: 1,
      reason: 'ApplyFailed',
    });
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.equal(world.cluster.told.length, 1);
  });

  test('is tried again after retry.permanent, in one request when it is rejected again', async () => {
    const { world } = await worldOf(mapping, { phase: 'Bad' });
    world.cluster.takeWrites();
    await world.clock.advance(permanentMs);
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    world.cluster.fault = () => undefined;
    await world.clock.advance(permanentMs);
    await world.runOne(key);
    assert.equal(world.status('a').phase, 'Bad');
    assert.equal(world.ready('a'), 'True AllReady: All children are ready');
  });

  test('costs one request after a restart, which knows of no rejection', async () => {
    const { world } = await worldOf(mapping, { phase: 'Bad' });
    world.cluster.takeWrites();
    await world.restart(planOf(mapping));
    await world.settle();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
  });

  test('heals as soon as the mapping is valid', async () => {
    const { world, podSet } = await worldOf(mapping, { phase: 'Bad', size: 1 });
    world.cluster.takeWrites();
    world.edit(podSet, { spec: { phase: 'Good', size: 2 } });
    await world.settle();
    assert.deepEqual(mapped(world), { phase: 'Good', size: 2 });
    assert.equal(world.ready('a'), 'True AllReady: All children are ready');
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('still reports the children, in one request', async () => {
    const child: HandmadeChild = {
      id: 'switch',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      pathsRead: [['data']],
      ready: ({ data }) => isJsonObject(data) && data.on === 'yes',
      template: () => ({ metadata: { name: 'switch' } }),
    };
    const { world } = await worldOf({ ...mapping, children: [child] }, { phase: 'Bad' });
    assert.deepEqual(world.status('a').childCounts, { total: 1, ready: 0, failed: 0 });
    world.cluster.takeWrites();
    const live = world.get('v1', 'ConfigMap', 'switch');
    assert.ok(live);
    world.edit(live, { data: { on: 'yes' } });
    await world.settle();
    assert.deepEqual(world.status('a').childCounts, { total: 1, ready: 1, failed: 0 });
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
    assert.equal(world.ready('a'), `False ApplyFailed: ${words}`);
  });

  test('is not quoted where a Secret is used', async () => {
    const { world } = await worldOf({ ...mapping, secrecy: 'content' }, { phase: 'Bad' });
    assert.equal(world.ready('a'), 'False ApplyFailed: status: Invalid: status');
  });

  test("whatever it says of the author's fields is a failure of the status", async () => {
    const { world } = await worldOf(mapping, { phase: 'Good' });
    world.cluster.takeWrites();
    world.cluster.fault = ({ verb }) => (verb === 'status' ? refusal() : undefined);
    const podSet = world.get('apps.example.com/v1', 'PodSet', 'a');
    assert.ok(podSet);
    world.edit(podSet, { spec: { phase: 'Bad' } });
    await world.settle();
    assert.equal(world.decisions.get(key)?.status, 'failed');
    assert.equal(world.ready('a'), 'True AllReady: All children are ready');
    assert.deepEqual(
      world.cluster.told.map(({ note }) => note),
      [words],
    );
    // Nothing was learnt: both are tried again.
    world.cluster.fault = () => undefined;
    await world.runOne(key);
    assert.equal(world.status('a').phase, 'Bad');
  });

  test('a request that fails for another reason is not taken for a rejection', async () => {
    const { world, podSet } = await worldOf(mapping, { phase: 'Good' });
    world.cluster.takeWrites();
    world.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('unavailable', 'down', { status: 503 }) : undefined;
    world.edit(podSet, { spec: { phase: 'Bad' } });
    world.cluster.deliver();
    const end = await world.runOne(key);
    assert.equal(end.kind, 'thrown');
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
  });

  test('what could not be reported is reported by the next pass', async () => {
    const { world, podSet } = await worldOf(mapping, { phase: 'Good' });
    const { fault } = world.cluster;
    world.cluster.fault = (request) =>
      fault(request) ??
      (request.verb === 'status' ? new KubeError('timeout', 'slow', { status: 0 }) : undefined);
    world.edit(podSet, { spec: { phase: 'Bad' } });
    world.cluster.deliver();
    assert.equal((await world.runOne(key)).kind, 'thrown');
    world.cluster.takeWrites();
    world.cluster.fault = fault;
    await world.runOne(key);
    assert.equal(world.ready('a'), `False ApplyFailed: ${words}`);
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
  });
});
