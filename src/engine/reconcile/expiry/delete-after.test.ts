import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
import type { DeletionGuard } from '../deletion-guard.ts';

const body = (since = 'spec.finishedAt', more = '') => `
  deleteAfter: { ttl: "\${ spec.ttl }", since: "\${ ${since} }" }
  children:
    - id: map
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map } }
${more}`;

async function harnessOf(text = body(), guard?: DeletionGuard): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(text));
  if (guard !== undefined) {
    harness.guard = guard;
    await harness.restart(planOfPodSet(text));
  } else await harness.start();
  return harness;
}

function after(harness: OperatorHarness, seconds: number): string {
  return new Date(harness.clock.nowMs() + seconds * 1_000).toISOString();
}

function exists(harness: OperatorHarness): boolean {
  return harness.get('apps.example.com/v1', 'PodSet', 'a') !== undefined;
}

describe('reconcile/expiry deleteAfter', () => {
  test('a resource is deleted at its time, without reconciles before, and an Event says why', async () => {
    const harness = await harnessOf();
    const finishedAt = after(harness, 0);
    harness.podSet('a', { ttl: '1h', finishedAt });
    await harness.settle();
    const before = harness.passes.length;
    await harness.clock.advance(3_599_999);
    await harness.settle();
    assert.equal(harness.passes.length, before);
    assert.ok(exists(harness));
    await harness.clock.advance(1);
    await harness.settle();
    assert.ok(!exists(harness));
    assert.deepEqual(
      harness.cluster.reported.map(({ reason, note }) => [reason, note]),
      [['Expired', `Deleted 1h after ${finishedAt}`]],
    );
  });

  for (const [what, spec] of [
    ['time', { ttl: '1h' }],
    ['duration', { finishedAt: '2020-01-01T00:00:00Z' }],
  ] as const) {
    test(`without a ${what} it is kept`, async () => {
      const harness = await harnessOf();
      harness.podSet('a', spec);
      await harness.settle();
      assert.ok(exists(harness));
      assert.match(harness.ready('a'), /^True/);
    });
  }

  for (const [what, spec, message] of [
    [
      'time',
      { ttl: '1h', finishedAt: 'soon' },
      /Expected a time .* at deleteAfter.since, found "soon"/,
    ],
    [
      'duration',
      { ttl: 'long', finishedAt: '2020-01-01T00:00:00Z' },
      /Expected a duration .* at deleteAfter.ttl, found "long"/,
    ],
  ] as const) {
    test(`what is no ${what} is reported, and it is kept`, async () => {
      const harness = await harnessOf();
      harness.podSet('a', spec);
      await harness.settle();
      assert.ok(exists(harness));
      assert.match(harness.ready('a'), message);
    });
  }

  test('a time in the status counts once it is written', async () => {
    const text = body('status.at', '  status: { at: "${ status.at ?? $now() }" }');
    const harness = await harnessOf(text);
    harness.podSet('a', { ttl: '0s' });
    await harness.settle();
    const writes = harness.cluster.takeWrites();
    assert.ok(writes.indexOf('status PodSet/a') < writes.indexOf('delete PodSet/a'), writes.join());
    assert.ok(!exists(harness));
  });

  test('only the state that was seen is deleted: an edit that makes it longer wins', async () => {
    const harness = await harnessOf();
    const finishedAt = after(harness, 0);
    const resource = harness.podSet('a', { ttl: '1h', finishedAt });
    await harness.settle();
    await harness.clock.advance(3_600_000);
    // The edit reaches the server, and the cache has not seen it.
    harness.edit(resource, { spec: { ttl: '2h', finishedAt } });
    await harness.runOne('default/a');
    assert.ok(exists(harness));
    await harness.settle();
    assert.ok(exists(harness));
    assert.match(harness.ready('a'), /^True/);
    await harness.clock.advance(3_600_000);
    await harness.settle();
    assert.ok(!exists(harness));
  });

  test('a paused resource is kept', async () => {
    const harness = await harnessOf();
    const resource = harness.podSet('a', { ttl: '1h', finishedAt: after(harness, 0) });
    await harness.settle();
    const { metadata } = resource;
    harness.edit(resource, {
      metadata: { ...metadata, annotations: { 'homeostat.dev/paused': 'true' } },
    });
    await harness.settle();
    await harness.clock.advance(7_200_000);
    await harness.settle();
    assert.ok(exists(harness));
    harness.edit(resource, { metadata: { ...metadata, annotations: {} } });
    await harness.settle();
    assert.ok(!exists(harness));
  });

  test('a guard of a changed definition holds it, and counts what is deleted with it', async () => {
    const asked: (readonly string[])[] = [];
    const guard: DeletionGuard = {
      blockingReason(_, objects) {
        asked.push(objects.map(({ ref }) => `${ref.gvk.kind} ${ref.name}`));
        return 'kept until a user approves';
      },
      onConverged: () => undefined,
    };
    const harness = await harnessOf(body(), guard);
    harness.podSet('a', { ttl: '1h', finishedAt: '2020-01-01T00:00:00Z' });
    await harness.settle();
    assert.ok(exists(harness));
    assert.deepEqual(asked.at(-1), ['PodSet a', 'ConfigMap map']);
    assert.match(harness.ready('a'), /DeletionsHeld: .*kept until a user approves/);
  });

  test('a preview counts it, and what is deleted with it', async () => {
    const harness = await harnessOf();
    harness.podSet('a', { ttl: '1h', finishedAt: after(harness, 0) });
    await harness.settle();
    const previewer = harness.operator.startPreview();
    assert.deepEqual((await previewer.of('default/a', harness.signal)).deletes, []);
    await harness.clock.advance(3_600_000);
    const { deletes } = await previewer.of('default/a', harness.signal);
    assert.deepEqual(
      deletes.map(({ ref }) => ref.gvk.kind),
      ['PodSet', 'ConfigMap'],
    );
    previewer.stop();
    assert.ok(exists(harness));
  });
});
