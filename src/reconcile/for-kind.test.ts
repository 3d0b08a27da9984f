import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../test/support/definition-parser.ts';
import { OperatorWorld } from '../../test/support/fakes/operator-world.ts';
import { bundledSchemas, compile, type OperatorPlan } from '../compile/index.ts';
import { KubeError } from '../kube/roles.ts';
import { gvkOf } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';

/** A definition for Secrets that match: a ConfigMap for each. */
function planFor(selectors: string, more = ''): OperatorPlan {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shadow }
spec:
  for: { apiVersion: v1, kind: Secret${selectors} }
  children:
    - id: shadow
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-shadow" }
        data: { type: "\${ type }" }
${more}`;
  const [located] = definitionParser.parse(text, 'shadow.yaml').definitions;
  assert.ok(located);
  const { plan, diagnostics } = compile(located, bundledSchemas());
  assert.deepEqual(diagnostics, []);
  assert.ok(plan);
  return plan;
}

const byLabel = ', selector: { matchLabels: { shadowed: "yes" } }';
const byAnnotation = ', annotationSelector: { matchLabels: { note: any text } }';
const matching = { labels: { shadowed: 'yes' }, annotations: { note: 'any text' } };

function secret(world: OperatorWorld, metadata: object, type = 'Opaque'): KubeObject {
  return world.cluster.server.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    type,
  }).object;
}

async function atRest(selectors: string, metadata: object = matching) {
  const world = new OperatorWorld(planFor(selectors));
  await world.start();
  const object = secret(world, metadata);
  await world.settle();
  world.cluster.requests.length = 0;
  world.passes.length = 0;
  return { world, object };
}

const shadow = (world: OperatorWorld) => world.get('v1', 'ConfigMap', 'a-shadow');

describe('reconcile: a kind of `for`', () => {
  test('an object that matches gets children, and nothing is written to it', async () => {
    const { world, object } = await atRest(byLabel);
    assert.equal(shadow(world)?.metadata.ownerReferences?.[0]?.uid, object.metadata.uid);
    assert.deepEqual(world.get('v1', 'Secret', 'a'), object);
  });

  test('an object that does not match gets none', async () => {
    const { world } = await atRest(byLabel, { labels: { shadowed: 'no' } });
    assert.equal(shadow(world), undefined);
    assert.equal(world.operator.instances, 0);
  });

  for (const [what, selectors, metadata] of [
    ['labels', byLabel, { ...matching, labels: {} }],
    ['annotations', byAnnotation, { ...matching, annotations: {} }],
  ] as const) {
    test(`an object whose ${what} stop matching loses its children, and has them again when they match`, async () => {
      const { world, object } = await atRest(selectors);
      world.edit(object, { metadata: { ...object.metadata, ...metadata } });
      await world.settle();
      assert.equal(shadow(world), undefined);
      assert.equal(world.operator.instances, 0);
      assert.ok(world.get('v1', 'Secret', 'a'));
      world.edit(object, { metadata: object.metadata });
      await world.settle();
      assert.ok(shadow(world));
    });

    test(`the same when its ${what} stopped matching while no process runs`, async () => {
      const { world, object } = await atRest(selectors);
      world.edit(object, { metadata: { ...object.metadata, ...metadata } });
      await world.restart(planFor(selectors));
      await world.settle();
      assert.equal(shadow(world), undefined);
    });
  }

  describe('an object that stops matching', () => {
    const readsMark = `  reads:
    - { id: mark, apiVersion: v1, kind: ConfigMap, name: mark, optional: true }
`;
    const mark = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'mark', namespace: 'default' },
    };
    const finalizers = (world: OperatorWorld) =>
      world.get('v1', 'Secret', 'a')?.metadata.finalizers ?? [];

    async function withChild(fields: string, more = ''): Promise<OperatorWorld> {
      const plan = planFor(byLabel, `      ${fields}\n${more}`);
      const world = new OperatorWorld(plan);
      await world.start();
      secret(world, matching);
      await world.settle();
      assert.ok(shadow(world));
      assert.equal(finalizers(world).length, 1);
      return world;
    }

    async function unmatch(world: OperatorWorld): Promise<void> {
      const object = world.get('v1', 'Secret', 'a');
      assert.ok(object);
      world.edit(object, { metadata: { ...object.metadata, labels: {} } });
      await world.settle();
    }

    for (const guard of [
      '$exists($child)',
      '$not($exists(reads.mark))',
      '$exists(children.shadow)',
    ])
      test(`loses a child whose "deleteWhen: ${guard}" is true, and our finalizer`, async () => {
        const world = await withChild(`deleteWhen: "\${ ${guard} }"`, readsMark);
        await unmatch(world);
        assert.equal(shadow(world), undefined);
        assert.deepEqual(finalizers(world), []);
      });

    test('keeps a child that "deleteWhen" holds until what it reads has changed', async () => {
      const world = await withChild('deleteWhen: "${ $exists(reads.mark) }"', readsMark);
      await unmatch(world);
      assert.ok(shadow(world));
      assert.equal(finalizers(world).length, 1);
      world.cluster.server.put(mark);
      await world.settle();
      assert.equal(shadow(world), undefined);
      assert.deepEqual(finalizers(world), []);
    });

    for (const isMatching of [true, false])
      for (const isGoing of [true, false])
        test(`is released by a definition that needs no finalizer any more (${isMatching ? 'matching' : 'not matching'}, ${isGoing ? 'being deleted' : 'alive'})`, async () => {
          const world = await withChild('deletionPolicy: Orphan');
          world.operator.stop();
          const object = world.get('v1', 'Secret', 'a');
          assert.ok(object);
          const labels = isMatching ? matching.labels : {};
          world.edit(object, { metadata: { ...object.metadata, labels } });
          await world.restart(planFor(byLabel));
          await world.settle();
          if (isGoing) world.remove(object);
          await world.settle();
          assert.deepEqual(finalizers(world), []);
          assert.equal(world.get('v1', 'Secret', 'a') === undefined, isGoing);
        });

    test('is watched by its labels alone where no finalizer was ever needed', async () => {
      const { world } = await atRest(byLabel);
      const watched = world.cluster.watched.filter(({ gvk }) => gvk.kind === 'Secret');
      assert.deepEqual(
        watched.map(({ labelSelector }) => labelSelector),
        ['shadowed=yes'],
      );
    });

    test('is released when its orphans are released', async () => {
      const world = await withChild('deletionPolicy: Orphan');
      await unmatch(world);
      assert.deepEqual(shadow(world)?.metadata.labels, {});
      assert.deepEqual(finalizers(world), []);
    });

    test('is released when what only its inventory leads to is gone, however long that takes', async () => {
      const world = await withChild('deletionPolicy: Orphan');
      const object = world.get('v1', 'Secret', 'a');
      assert.ok(object);
      const annotations = {
        ...object.metadata.annotations,
        'inventory.homeostat.dev/shadow': '["ConfigMap default/a","Pod default/former"]',
      };
      world.edit(object, { metadata: { ...object.metadata, annotations } });
      world.formerKinds = [gvkOf('v1', 'Pod')];
      await world.restart(planFor(byLabel, '      deletionPolicy: Orphan\n'));
      const labels = {
        'app.kubernetes.io/managed-by': 'homeostat',
        'homeostat.dev/definition': 'shadow',
        'homeostat.dev/owner-uid': object.metadata.uid ?? '',
      };
      const manifest = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'former', namespace: 'default', labels },
      };
      const manager = 'homeostat/shadow';
      world.cluster.server.apply({ manifest, manager, force: true, status: false });
      await unmatch(world);
      assert.equal(finalizers(world).length, 1);
      await world.clock.advance(600_000);
      const former = world.get('v1', 'Pod', 'former');
      assert.ok(former);
      world.remove(former);
      await world.settle();
      assert.deepEqual(finalizers(world), []);
    });
  });

  test('what a changed definition leaves out keeps its children, and is counted', async () => {
    const { world, object } = await atRest(byLabel);
    const other = planFor(', selector: { matchLabels: { shadowed: "maybe" } }');
    await world.restart(other);
    await world.settle();
    assert.equal(world.operator.unmatchedInstances, 1);
    world.edit(object, { metadata: { ...object.metadata, labels: {} } });
    await world.settle();
    assert.ok(shadow(world));
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('what still matches after a change of the selectors is marked again, once', async () => {
    const { world, object } = await atRest(byLabel);
    await world.restart(
      planFor(', selector: { matchExpressions: [{ key: shadowed, operator: Exists }] }'),
    );
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply ConfigMap/a-shadow']);
    world.edit(object, { metadata: { ...object.metadata, labels: {} } });
    await world.settle();
    assert.equal(shadow(world), undefined);
  });

  test('of an object that is gone the garbage collector takes care: the server is asked once', async () => {
    const { world, object } = await atRest(byLabel);
    world.remove(object);
    await world.settle();
    const kept = shadow(world);
    assert.ok(kept);
    assert.deepEqual(
      world.cluster.requests.map(({ verb, name }) => `${verb} ${name}`),
      ['get a'],
    );
    // Whatever happens to the child meanwhile.
    world.edit(kept, { data: { type: 'other' } });
    await world.settle();
    assert.equal(world.cluster.requests.length, 1);
    world.remove(kept);
    await world.settle();
    assert.equal(world.cluster.requests.length, 1);
  });

  test('an object of the same name that does not match does not inherit children, nor lose those of another', async () => {
    const { world, object } = await atRest(byLabel);
    world.remove(object);
    secret(world, {});
    await world.settle();
    assert.ok(shadow(world));
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('what only looks like a child of ours is left alone', async () => {
    const { world, object } = await atRest(byLabel);
    const {
      uid: _,
      resourceVersion: _v,
      ownerReferences: _o,
      ...copied
    } = shadow(world)?.metadata ?? { name: '' };
    world.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...copied, name: 'copy' },
    });
    await world.settle();
    world.edit(object, { metadata: { ...object.metadata, labels: {} } });
    await world.settle();
    assert.equal(shadow(world), undefined);
    assert.ok(world.get('v1', 'ConfigMap', 'copy'));
  });

  test('two definitions are beside each other', async () => {
    const { world, object } = await atRest(byLabel);
    const kept = shadow(world);
    // Another process, with another definition of the same kind.
    await world.restart({ ...planFor(byAnnotation), name: 'other' });
    world.edit(object, { metadata: { ...object.metadata, annotations: {} } });
    await world.settle();
    assert.equal(shadow(world)?.metadata.uid, kept?.metadata.uid);
  });

  test('a restart of an idle runtime sends nothing', async () => {
    const { world } = await atRest(byAnnotation);
    await world.restart(planFor(byAnnotation));
    await world.settle();
    assert.deepEqual(world.cluster.requests, []);
  });

  test('children that could not be seen when their owner stopped matching go when they can', async () => {
    const { world, object } = await atRest(byLabel);
    const error = new KubeError('forbidden', 'configmaps is forbidden', { status: 403 });
    world.cluster.block('ConfigMap', error);
    await world.restart(planFor(byLabel));
    world.edit(object, { metadata: { ...object.metadata, labels: {} } });
    await world.settle();
    assert.ok(shadow(world));
    world.cluster.unblock('ConfigMap');
    await world.settle();
    assert.equal(shadow(world), undefined);
  });
});
