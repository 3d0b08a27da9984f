import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocatedDefinition } from '#definition';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { ShadowCluster } from '../../../../test/support/fakes/shadow-cluster.ts';
import {
  locatedShadow,
  shadowObject,
  shadowSpec,
} from '../../../../test/support/fakes/shadow-definition.ts';
import { locatedThing } from '../../../../test/support/fakes/thing-texts.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { uninstall } from './uninstall.ts';

const spec = shadowSpec('a', { more: { removalPolicy: 'Delete' } });
const before = '2025-01-01T00:00:00Z';
const then = '2026-01-01T00:00:00Z';
const after = '2027-01-01T00:00:00Z';
const finalizers = ['homeostat.dev/definition'];
const deleted = { finalizers, deletionTimestamp: then };
const crdName = 'operatordefinitions.homeostat.dev';

/** Uninstalls, in a cluster with an object and a CRD of definitions that have this metadata. */
function start(
  object: object | undefined,
  crd: object | undefined,
  located: LocatedDefinition = locatedShadow(spec),
) {
  const cluster = new ShadowCluster();
  const { name } = located.definition;
  if (object !== undefined)
    cluster.server.put(shadowObject(spec, { name, creationTimestamp: before, ...object }));
  if (crd !== undefined)
    cluster.server.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: crdName, creationTimestamp: before, ...crd },
    });
  const clock = new FakeClock();
  const progress: string[] = [];
  const stopper = new AbortController();
  const result = uninstall(
    {
      cluster,
      clock,
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
      timeSlicer: unlimitedTimeSlicer,
      name,
      located,
      policy: { children: true, crd: false },
      childKinds: [],
      sinceMs: clock.nowMs(),
      onProgress: (message) => progress.push(message),
    },
    stopper.signal,
  );
  return { cluster, progress, result, stopper };
}

describe('runtime/finalize/uninstall', () => {
  for (const [what, object, crd] of [
    ['that is gone', undefined, {}],
    ['that is not being deleted', { finalizers }, {}],
    ['that is published', { ...deleted, labels: { 'homeostat.dev/source': 'configmap' } }, {}],
    ['whose kind is being deleted', deleted, { deletionTimestamp: then, finalizers: ['cleanup'] }],
    ['whose kind is gone', deleted, undefined],
    [
      'whose kind was deleted with all its objects and exists again',
      deleted,
      { creationTimestamp: after },
    ],
    ['whose kind exists again since the same second', deleted, { creationTimestamp: then }],
  ] as const)
    test(`nothing is removed of an object ${what}`, async () => {
      const { cluster, progress, result } = start(object, crd);
      assert.equal(await result, false);
      assert.deepEqual([cluster.takeWrites(), progress], [[], []]);
    });

  test('what a user deletes is deleted; where there is nothing, at once', async () => {
    const { cluster, progress, result } = start(deleted, {});
    await cluster.calm();
    assert.equal(await result, false);
    assert.deepEqual(progress, ['Listing the children of its resources']);
    assert.deepEqual(cluster.watched, []);
  });

  test('where its CRD is gone already, all has gone with it', async () => {
    const { cluster, result } = start(deleted, {}, locatedThing('thing'));
    assert.equal(await result, true);
    assert.deepEqual(cluster.takeWrites(), []);
  });

  test('what it waits for is reported', async () => {
    const { cluster, progress, stopper, result } = start(deleted, {});
    cluster.server.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'one',
        namespace: 'default',
        annotations: { 'homeostat.dev/paused': 'true' },
      },
    });
    await cluster.calm();
    assert.equal(progress.at(-1), 'One resource with children to delete');
    stopper.abort(new Error('The test has ended'));
    await assert.rejects(result);
    assert.deepEqual(cluster.watched, []);
  });
});
