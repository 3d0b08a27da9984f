import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, type KubeErrorCode } from '#kube/roles.ts';
import { isJsonObject } from '#util/json.ts';
import {
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const key = 'default/a';
const permanentMs = 600_000;
const words = 'status: status.phase: Unsupported value: "Bad"';

const mapping: HandmadePlan = {
  status: {
    phase: ({ resource }) => resource.spec.phase,
    size: ({ resource }) => resource.spec.size,
  },
};

function rejection(code: KubeErrorCode = 'rejected'): KubeError {
  const message = 'Unsupported value: "Bad"';
  return new KubeError(code, `PodSet "a" is invalid: status.phase: ${message}`, {
    status: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueNotSupported', field: 'status.phase', message }],
  });
}

/** A harness whose server rejects each status with the phase `Bad`. */
async function harnessOf(plan: HandmadePlan, spec: unknown) {
  const harness = new OperatorHarness(planOf(plan));
  await harness.start();
  harness.cluster.fault = ({ verb, manifest }) => {
    const status = isJsonObject(manifest?.status) ? manifest.status : {};
    return verb === 'status' && status.phase === 'Bad' ? rejection() : undefined;
  };
  const podSet = harness.podSet('a', spec);
  await harness.settle();
  return { harness, podSet };
}

function mapped(harness: OperatorHarness) {
  const { phase, size } = harness.status('a');
  return { phase, size };
}

describe('reconcile/report: a status that the server rejects', () => {
  test("is written without the author's fields when they have never been written", async () => {
    const { harness } = await harnessOf(mapping, { phase: 'Bad', size: 1 });
    assert.deepEqual(mapped(harness), { phase: undefined, size: undefined });
    assert.equal(harness.ready('a'), `False ApplyFailed: ${words}`);
    assert.equal(harness.status('a').observedGeneration, 1);
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a', 'status PodSet/a']);
    assert.deepEqual(harness.passes, [
      { key, end: { kind: 'failed', afterMs: permanentMs, reason: 'ApplyFailed' } },
    ]);
    assert.deepEqual(
      harness.cluster.reported.map(({ note }) => note),
      [words],
    );
  });

  test("keeps the last values of the author's fields, and says that a user has to act", async () => {
    const { harness, podSet } = await harnessOf(mapping, { phase: 'Good', size: 1 });
    harness.edit(podSet, { spec: { phase: 'Bad', size: 2 } });
    await harness.settle();
    assert.deepEqual(mapped(harness), { phase: 'Good', size: 1 });
    assert.equal(harness.ready('a'), `False ApplyFailed: ${words}`);
    const conditions = harness.status('a').conditions as readonly { type: string }[];
    assert.deepEqual(
      conditions.map(({ type }) => type),
      ['Ready', 'Stalled'],
    );
    assert.equal(harness.status('a').observedGeneration, 2);
  });

  test('is not sent again while it is the same', async () => {
    const { harness } = await harnessOf(mapping, { phase: 'Bad' });
    harness.cluster.takeWrites();
    await harness.clock.advance(permanentMs - 1_000);
    assert.deepEqual(await harness.runOne(key), {
      kind: 'failed',
      afterMs: 1_000,
      reason: 'ApplyFailed',
    });
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.equal(harness.cluster.reported.length, 1);
  });

  test('is tried again after retry.permanent, in one request when it is rejected again', async () => {
    const { harness } = await harnessOf(mapping, { phase: 'Bad' });
    harness.cluster.takeWrites();
    await harness.clock.advance(permanentMs);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.cluster.fault = () => undefined;
    await harness.clock.advance(permanentMs);
    await harness.runOne(key);
    assert.equal(harness.status('a').phase, 'Bad');
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
  });

  test('costs one request after a restart, which knows of no rejection', async () => {
    const { harness } = await harnessOf(mapping, { phase: 'Bad' });
    harness.cluster.takeWrites();
    await harness.restart(planOf(mapping));
    await harness.settle();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
  });

  test('heals as soon as the mapping is valid', async () => {
    const { harness, podSet } = await harnessOf(mapping, { phase: 'Bad', size: 1 });
    harness.cluster.takeWrites();
    harness.edit(podSet, { spec: { phase: 'Good', size: 2 } });
    await harness.settle();
    assert.deepEqual(mapped(harness), { phase: 'Good', size: 2 });
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
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
    const { harness } = await harnessOf({ ...mapping, children: [child] }, { phase: 'Bad' });
    assert.deepEqual(harness.status('a').childCounts, { total: 1, ready: 0, failed: 0 });
    harness.cluster.takeWrites();
    const live = harness.get('v1', 'ConfigMap', 'switch');
    assert.ok(live);
    harness.edit(live, { data: { on: 'yes' } });
    await harness.settle();
    assert.deepEqual(harness.status('a').childCounts, { total: 1, ready: 1, failed: 0 });
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
    assert.equal(harness.ready('a'), `False ApplyFailed: ${words}`);
  });

  test('is not quoted where a Secret is used', async () => {
    const { harness } = await harnessOf({ ...mapping, secrecy: 'content' }, { phase: 'Bad' });
    assert.equal(harness.ready('a'), 'False ApplyFailed: status: Invalid: status');
  });

  test("whatever it says of the author's fields is a failure of the status", async () => {
    const { harness } = await harnessOf(mapping, { phase: 'Good' });
    harness.cluster.takeWrites();
    harness.cluster.fault = ({ verb }) => (verb === 'status' ? rejection() : undefined);
    const podSet = harness.get('apps.example.com/v1', 'PodSet', 'a');
    assert.ok(podSet);
    harness.edit(podSet, { spec: { phase: 'Bad' } });
    await harness.settle();
    assert.equal(harness.decisions.get(key)?.status, 'failed');
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
    assert.deepEqual(
      harness.cluster.reported.map(({ note }) => note),
      [words],
    );
    // Nothing was learnt: both are tried again.
    harness.cluster.fault = () => undefined;
    await harness.runOne(key);
    assert.equal(harness.status('a').phase, 'Bad');
  });

  test('a request that fails for another reason is not taken for a rejection', async () => {
    const { harness, podSet } = await harnessOf(mapping, { phase: 'Good' });
    harness.cluster.takeWrites();
    harness.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('unavailable', 'down', { status: 503 }) : undefined;
    harness.edit(podSet, { spec: { phase: 'Bad' } });
    harness.cluster.deliver();
    const end = await harness.runOne(key);
    assert.equal(end.kind, 'error');
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
  });

  test('what could not be reported is reported by the next pass', async () => {
    const { harness, podSet } = await harnessOf(mapping, { phase: 'Good' });
    const { fault } = harness.cluster;
    harness.cluster.fault = (request) =>
      fault(request) ??
      (request.verb === 'status' ? new KubeError('timeout', 'slow', { status: 0 }) : undefined);
    harness.edit(podSet, { spec: { phase: 'Bad' } });
    harness.cluster.deliver();
    assert.equal((await harness.runOne(key)).kind, 'error');
    harness.cluster.takeWrites();
    harness.cluster.fault = fault;
    await harness.runOne(key);
    assert.equal(harness.ready('a'), `False ApplyFailed: ${words}`);
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
  });
});
