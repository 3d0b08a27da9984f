import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchemas, compile, type OperatorPlan } from '#compile';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { MemberHarness } from '../../../test/support/fakes/member-harness.ts';
import { OperatorHarness } from '../../../test/support/fakes/operator-harness.ts';

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

function secret(harness: OperatorHarness, metadata: object, type = 'Opaque'): KubeObject {
  return harness.cluster.server.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    type,
  }).object;
}

async function atRest(selectors: string, metadata: object = matching) {
  const harness = new OperatorHarness(planFor(selectors));
  await harness.start();
  const object = secret(harness, metadata);
  await harness.settle();
  harness.cluster.requests.length = 0;
  harness.passes.length = 0;
  return { harness, object };
}

const shadow = (harness: OperatorHarness) => harness.get('v1', 'ConfigMap', 'a-shadow');

describe('reconcile: a kind of `for`', () => {
  test('an object that matches gets children, and nothing is written to it', async () => {
    const { harness, object } = await atRest(byLabel);
    assert.equal(shadow(harness)?.metadata.ownerReferences?.[0]?.uid, object.metadata.uid);
    assert.deepEqual(harness.get('v1', 'Secret', 'a'), object);
  });

  test('an object that does not match gets none', async () => {
    const { harness } = await atRest(byLabel, { labels: { shadowed: 'no' } });
    assert.equal(shadow(harness), undefined);
    assert.equal(harness.operator.instances, 0);
  });

  for (const [what, selectors, metadata] of [
    ['labels', byLabel, { ...matching, labels: {} }],
    ['annotations', byAnnotation, { ...matching, annotations: {} }],
  ] as const) {
    test(`an object whose ${what} stop matching loses its children, and has them again when they match`, async () => {
      const { harness, object } = await atRest(selectors);
      harness.edit(object, { metadata: { ...object.metadata, ...metadata } });
      await harness.settle();
      assert.equal(shadow(harness), undefined);
      assert.equal(harness.operator.instances, 0);
      assert.ok(harness.get('v1', 'Secret', 'a'));
      harness.edit(object, { metadata: object.metadata });
      await harness.settle();
      assert.ok(shadow(harness));
    });

    test(`the same when its ${what} stopped matching while no process runs`, async () => {
      const { harness, object } = await atRest(selectors);
      harness.edit(object, { metadata: { ...object.metadata, ...metadata } });
      await harness.restart(planFor(selectors));
      await harness.settle();
      assert.equal(shadow(harness), undefined);
    });
  }

  for (const [how, selectors, unmatched] of [
    ['labels', byLabel, { labels: {} }],
    ['annotations', byAnnotation, { annotations: {} }],
  ] as const)
    for (const isRestarted of [false, true])
      test(`a paused object whose ${how} stop matching keeps its children until it is resumed (${isRestarted ? 'while no process runs' : 'now'})`, async () => {
        const { harness, object } = await atRest(selectors);
        const paused = { ...matching.annotations, 'homeostat.dev/paused': 'true' };
        harness.edit(object, { metadata: { ...object.metadata, annotations: paused } });
        await harness.settle();
        const left = { ...object.metadata, annotations: paused, ...unmatched };
        const annotations = { ...left.annotations, 'homeostat.dev/paused': 'true' };
        harness.edit(object, { metadata: { ...left, annotations } });
        if (isRestarted) await harness.restart(planFor(selectors));
        await harness.settle();
        assert.ok(shadow(harness));
        await harness.clock.advance(3_600_000);
        await harness.settle();
        assert.ok(shadow(harness));
        harness.edit(object, { metadata: { ...left, annotations: {} } });
        await harness.settle();
        assert.equal(shadow(harness), undefined);
        await harness.clock.advance(60_000);
        assert.equal(harness.cluster.watched.filter(({ gvk }) => gvk.kind === 'Secret').length, 1);
      });

  test('a paused object that stopped matching, and is deleted then, is forgotten', async () => {
    const { harness, object } = await atRest(byLabel);
    const annotations = { 'homeostat.dev/paused': 'true' };
    harness.edit(object, { metadata: { ...object.metadata, labels: {}, annotations } });
    await harness.settle();
    assert.ok(shadow(harness));
    harness.remove(object);
    await harness.settle();
    await harness.clock.advance(60_000);
    assert.equal(harness.cluster.watched.filter(({ gvk }) => gvk.kind === 'Secret').length, 1);
  });

  describe('an object that stops matching', () => {
    const readsMark = `  reads:
    - { id: mark, apiVersion: v1, kind: ConfigMap, name: mark, optional: true }
`;
    const mark = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'mark', namespace: 'default' },
    };
    const finalizers = (harness: OperatorHarness) =>
      harness.get('v1', 'Secret', 'a')?.metadata.finalizers ?? [];

    async function withChild(fields: string, more = ''): Promise<OperatorHarness> {
      const plan = planFor(byLabel, `      ${fields}\n${more}`);
      const harness = new OperatorHarness(plan);
      await harness.start();
      secret(harness, matching);
      await harness.settle();
      assert.ok(shadow(harness));
      assert.equal(finalizers(harness).length, 1);
      return harness;
    }

    async function unmatch(harness: OperatorHarness): Promise<void> {
      const object = harness.get('v1', 'Secret', 'a');
      assert.ok(object);
      harness.edit(object, { metadata: { ...object.metadata, labels: {} } });
      await harness.settle();
    }

    for (const guard of [
      '$exists($child)',
      '$not($exists(reads.mark))',
      '$exists(children.shadow)',
    ])
      test(`loses a child whose "deleteWhen: ${guard}" is true, and our finalizer`, async () => {
        const harness = await withChild(`deleteWhen: "\${ ${guard} }"`, readsMark);
        await unmatch(harness);
        assert.equal(shadow(harness), undefined);
        assert.deepEqual(finalizers(harness), []);
      });

    test('keeps a child that "deleteWhen" holds until what it reads has changed', async () => {
      const harness = await withChild('deleteWhen: "${ $exists(reads.mark) }"', readsMark);
      await unmatch(harness);
      assert.ok(shadow(harness));
      assert.equal(finalizers(harness).length, 1);
      harness.cluster.server.put(mark);
      await harness.settle();
      assert.equal(shadow(harness), undefined);
      assert.deepEqual(finalizers(harness), []);
    });

    test('keeps a child that "deleteWhen" holds until its time has come', async () => {
      const harness = await withChild(`deleteWhen: "\${ $now() >= '2026-01-01T00:01:00.000Z' }"`);
      await unmatch(harness);
      await harness.clock.advance(59_999);
      await harness.settle();
      assert.ok(shadow(harness));
      await harness.clock.advance(1);
      await harness.settle();
      assert.equal(shadow(harness), undefined);
      assert.deepEqual(finalizers(harness), []);
    });

    for (const isMatching of [true, false])
      for (const isGoing of [true, false])
        test(`is released by a definition that needs no finalizer any more (${isMatching ? 'matching' : 'not matching'}, ${isGoing ? 'being deleted' : 'alive'})`, async () => {
          const harness = await withChild('deletionPolicy: Orphan');
          harness.operator.stop();
          const object = harness.get('v1', 'Secret', 'a');
          assert.ok(object);
          const labels = isMatching ? matching.labels : {};
          harness.edit(object, { metadata: { ...object.metadata, labels } });
          await harness.restart(planFor(byLabel));
          await harness.settle();
          if (isGoing) harness.remove(object);
          await harness.settle();
          assert.deepEqual(finalizers(harness), []);
          assert.equal(harness.get('v1', 'Secret', 'a') === undefined, isGoing);
        });

    test('is watched by its labels alone where no finalizer was ever needed', async () => {
      const { harness } = await atRest(byLabel);
      const watched = harness.cluster.watched.filter(({ gvk }) => gvk.kind === 'Secret');
      assert.deepEqual(
        watched.map(({ labelSelector }) => labelSelector),
        ['shadowed=yes'],
      );
    });

    test('is released when its orphans are released', async () => {
      const harness = await withChild('deletionPolicy: Orphan');
      await unmatch(harness);
      assert.deepEqual(shadow(harness)?.metadata.labels, {});
      assert.deepEqual(finalizers(harness), []);
    });

    for (const isWatched of [true, false])
      test(`is released when what only its inventory leads to is gone, however long that takes (${isWatched ? 'a former kind' : 'a kind that is watched for it alone'})`, async () => {
        const harness = await withChild('deletionPolicy: Orphan');
        const object = harness.get('v1', 'Secret', 'a');
        assert.ok(object);
        const annotations = {
          ...object.metadata.annotations,
          'inventory.homeostat.dev/shadow': '["ConfigMap default/a","Pod default/former"]',
        };
        harness.edit(object, { metadata: { ...object.metadata, annotations } });
        harness.formerKinds = [gvkOf('v1', 'Pod')];
        await harness.restart(planFor(byLabel, '      deletionPolicy: Orphan\n'));
        if (!isWatched) harness.operator.retainPreviousKinds([]);
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
        harness.cluster.server.apply({ manifest, manager, force: true, status: false });
        await unmatch(harness);
        assert.equal(finalizers(harness).length, 1);
        await harness.clock.advance(600_000);
        const former = harness.get('v1', 'Pod', 'former');
        assert.ok(former);
        harness.remove(former);
        await harness.settle();
        assert.deepEqual(finalizers(harness), []);
        await harness.clock.advance(60_000);
        assert.equal(
          harness.cluster.watched.some(({ gvk }) => gvk.kind === 'Pod'),
          isWatched,
        );
      });

    test('loses nothing while it is paused', async () => {
      const harness = await withChild('deletionPolicy: Orphan');
      const object = harness.get('v1', 'Secret', 'a');
      assert.ok(object);
      const annotations = { ...object.metadata.annotations, 'homeostat.dev/paused': 'true' };
      harness.edit(object, { metadata: { ...object.metadata, annotations, labels: {} } });
      await harness.settle();
      const { labels = {} } = shadow(harness)?.metadata ?? assert.fail();
      assert.equal(labels['homeostat.dev/definition'], 'shadow');
      assert.equal(finalizers(harness).length, 1);
      const paused = harness.get('v1', 'Secret', 'a');
      assert.ok(paused);
      harness.edit(paused, {
        metadata: { ...paused.metadata, annotations: object.metadata.annotations },
      });
      await harness.settle();
      assert.deepEqual(shadow(harness)?.metadata.labels, {});
      assert.deepEqual(finalizers(harness), []);
    });
  });

  test('what a changed definition leaves out keeps its children, and is counted', async () => {
    const { harness, object } = await atRest(byLabel);
    const other = planFor(', selector: { matchLabels: { shadowed: "maybe" } }');
    await harness.restart(other);
    await harness.settle();
    assert.equal(harness.operator.unmatchedInstances, 1);
    harness.edit(object, { metadata: { ...object.metadata, labels: {} } });
    await harness.settle();
    assert.ok(shadow(harness));
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('what still matches after a change of the selectors is marked again, once', async () => {
    const { harness, object } = await atRest(byLabel);
    await harness.restart(
      planFor(', selector: { matchExpressions: [{ key: shadowed, operator: Exists }] }'),
    );
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply ConfigMap/a-shadow']);
    harness.edit(object, { metadata: { ...object.metadata, labels: {} } });
    await harness.settle();
    assert.equal(shadow(harness), undefined);
  });

  test('of an object that is gone the garbage collector takes care: the server is asked once', async () => {
    const { harness, object } = await atRest(byLabel);
    harness.remove(object);
    await harness.settle();
    const kept = shadow(harness);
    assert.ok(kept);
    assert.deepEqual(
      harness.cluster.requests.map(({ verb, name }) => `${verb} ${name}`),
      ['get a'],
    );
    // Whatever happens to the child meanwhile.
    harness.edit(kept, { data: { type: 'other' } });
    await harness.settle();
    assert.equal(harness.cluster.requests.length, 1);
    harness.remove(kept);
    await harness.settle();
    assert.equal(harness.cluster.requests.length, 1);
  });

  test('an object of the same name that does not match does not inherit children, nor lose those of another', async () => {
    const { harness, object } = await atRest(byLabel);
    harness.remove(object);
    secret(harness, {});
    await harness.settle();
    assert.ok(shadow(harness));
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('what only looks like a child of ours is left alone', async () => {
    const { harness, object } = await atRest(byLabel);
    const {
      uid: _,
      resourceVersion: _v,
      ownerReferences: _o,
      ...copied
    } = shadow(harness)?.metadata ?? { name: '' };
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...copied, name: 'copy' },
    });
    await harness.settle();
    harness.edit(object, { metadata: { ...object.metadata, labels: {} } });
    await harness.settle();
    assert.equal(shadow(harness), undefined);
    assert.ok(harness.get('v1', 'ConfigMap', 'copy'));
  });

  test('two definitions are beside each other', async () => {
    const { harness, object } = await atRest(byLabel);
    const kept = shadow(harness);
    // Another process, with another definition of the same kind.
    await harness.restart({ ...planFor(byAnnotation), name: 'other' });
    harness.edit(object, { metadata: { ...object.metadata, annotations: {} } });
    await harness.settle();
    assert.equal(shadow(harness)?.metadata.uid, kept?.metadata.uid);
  });

  test('a restart of an idle runtime sends nothing', async () => {
    const { harness } = await atRest(byAnnotation);
    await harness.restart(planFor(byAnnotation));
    await harness.settle();
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('children that could not be seen when their owner stopped matching go when they can', async () => {
    const { harness, object } = await atRest(byLabel);
    const error = new KubeError('forbidden', 'configmaps is forbidden', { status: 403 });
    harness.cluster.block('ConfigMap', error);
    await harness.restart(planFor(byLabel));
    harness.edit(object, { metadata: { ...object.metadata, labels: {} } });
    await harness.settle();
    assert.ok(shadow(harness));
    harness.cluster.unblock('ConfigMap');
    await harness.settle();
    assert.equal(shadow(harness), undefined);
  });
});

describe('reconcile: an object that stops matching, with children in a member', () => {
  test('loses them when the member can be used again', async () => {
    const harness = new MemberHarness(planFor(byLabel, '      cluster: paris\n'));
    harness.addMember('paris');
    await harness.start();
    const object = secret(harness, matching);
    await harness.settle();
    const inParis = () => harness.member('paris').names('v1', 'ConfigMap');
    const finalizers = () => harness.get('v1', 'Secret', 'a')?.metadata.finalizers;
    assert.deepEqual(inParis(), ['a-shadow']);
    harness.stopMember('paris');
    const metadata = harness.get('v1', 'Secret', 'a')?.metadata ?? object.metadata;
    harness.edit(object, { metadata: { ...metadata, labels: {} } });
    await harness.settle();
    await harness.clock.advance(120_000);
    await harness.settle();
    assert.deepEqual([inParis(), finalizers()], [['a-shadow'], ['homeostat.dev/shadow']]);
    assert.deepEqual(harness.operator.readiness(), { ready: 0, unready: 0, unknown: 0 });
    harness.startMember('paris');
    await harness.settle();
    assert.deepEqual([inParis(), finalizers()], [[], []]);
  });
});
