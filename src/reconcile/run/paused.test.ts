import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const body = `
  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { size: "\${ $string(spec.size) }" }
  status: { size: "\${ spec.size }" }
  conditions: [{ type: Big, status: "\${ spec.size > 1 }" }]
  schedule: { every: 30s }
`;

async function worldOf(): Promise<OperatorWorld> {
  const world = new OperatorWorld(planOfPodSet(body));
  await world.start();
  return world;
}

function annotate(world: OperatorWorld, object: KubeObject, annotations: Record<string, string>) {
  const now = world.get(object.apiVersion, object.kind, object.metadata.name) ?? object;
  world.edit(object, { metadata: { ...now.metadata, annotations } });
}

const size = (world: OperatorWorld) =>
  (world.get('v1', 'ConfigMap', 'one')?.data as { size: string } | undefined)?.size;

describe('reconcile/pass paused', () => {
  test('a paused resource is left as it is, says so once, and continues when the annotation goes', async () => {
    const world = await worldOf();
    const one = world.podSet('one', { size: 2 });
    await world.settle();
    const before = world.status('one');
    annotate(world, one, { 'homeostat.dev/paused': 'true' });
    await world.settle();
    assert.match(world.ready('one'), /^False Paused: /);
    const { conditions: _now, ...fields } = world.status('one');
    const { conditions: _then, ...fieldsBefore } = before;
    assert.deepEqual(fields, fieldsBefore);
    world.cluster.takeWrites();
    world.edit(one, { spec: { size: 5 } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.equal(size(world), '2');
    annotate(world, one, {});
    await world.settle();
    assert.equal(size(world), '5');
    assert.match(world.ready('one'), /AllReady|Progressing/);
  });

  test('other values of the annotation pause nothing', async () => {
    const world = await worldOf();
    const one = world.podSet('one', { size: 2 });
    annotate(world, one, { 'homeostat.dev/paused': 'false' });
    await world.settle();
    assert.equal(size(world), '2');
  });

  test('its schedule rests', async () => {
    const world = await worldOf();
    const one = world.podSet('one', { size: 2 });
    annotate(world, one, { 'homeostat.dev/paused': 'true' });
    await world.settle();
    const before = world.passes.length;
    await world.clock.advance(120_000);
    await world.settle();
    assert.equal(world.passes.length, before);
  });

  test('a change of homeostat.dev/reconcile-at runs a resource that rests', async () => {
    const world = await worldOf();
    const one = world.podSet('one', { size: 2 });
    await world.settle();
    const before = world.passes.length;
    annotate(world, one, { 'homeostat.dev/reconcile-at': 'now' });
    await world.settle();
    assert.equal(world.passes.length, before + 1);
  });

  test('schedule.every runs each resource again, after a pass as well', async () => {
    const world = await worldOf();
    world.podSet('one', { size: 2 });
    await world.settle();
    const before = world.passes.length;
    for (let round = 1; round <= 3; round++) {
      await world.clock.advance(30_000);
      await world.settle();
      assert.equal(world.passes.length, before + round);
    }
  });
});
