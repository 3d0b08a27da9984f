import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { finalizerOf, ownedPatchManagerOf, patchedAnnotationOf } from '#util/stored-names.ts';
import { FakeCluster } from '../../../../test/support/fakes/fake-cluster.ts';
import { ManagedServer } from '../../../../test/support/fakes/managed-server.ts';
import { OperatorHarness, types } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const annotation = patchedAnnotationOf('podset');
const finalizer = finalizerOf('podset');
const manager = ownedPatchManagerOf('podset', 'note', 'default/one');

const note = (more = 'withdraw: true', fields = '{ size: "${ $string(spec.size) }" }') => `
  patches:
    - id: note
      when: \${ $not(spec.off = true) }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ spec.where ?? 'target' }" }
      ${more}
      patch: { data: ${fields} }
`;

async function harnessOf(body: string): Promise<OperatorHarness> {
  const cluster = new FakeCluster(types, new ManagedServer(types));
  const harness = new OperatorHarness(planOfPodSet(body), undefined, cluster);
  await harness.start();
  return harness;
}

const podSet = (harness: OperatorHarness) => harness.get('apps.example.com/v1', 'PodSet', 'one');
const dataOf = (harness: OperatorHarness, name = 'target') =>
  harness.get('v1', 'ConfigMap', name)?.data;
const claimsOf = (harness: OperatorHarness): unknown => {
  const text = podSet(harness)?.metadata.annotations?.[annotation];
  return text === undefined ? undefined : Object.keys(JSON.parse(text));
};

function configMap(harness: OperatorHarness, data: unknown, name = 'target'): KubeObject {
  const metadata = { name, namespace: 'default' };
  return harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }).object;
}

/** A resource whose patch is applied. */
async function applied(body = note()): Promise<{ harness: OperatorHarness; one: KubeObject }> {
  const harness = await harnessOf(body);
  configMap(harness, { mine: 'yes' });
  const one = harness.podSet('one', { size: 3 });
  await harness.settle();
  assert.deepEqual(dataOf(harness), { mine: 'yes', size: '3' });
  harness.cluster.takeWrites();
  return { harness, one };
}

describe('reconcile/patch that is withdrawn', () => {
  test('is recorded with the finalizer before it is applied, and costs nothing when it is as desired', async () => {
    const harness = await harnessOf(note());
    configMap(harness, { mine: 'yes' });
    harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), [
      'edit PodSet/one',
      'apply ConfigMap/target',
      'status PodSet/one',
    ]);
    assert.deepEqual(claimsOf(harness), ['note ConfigMap default/target']);
    assert.deepEqual(podSet(harness)?.metadata.finalizers, [finalizer]);
    await harness.runOne('default/one');
    await harness.restart(planOfPodSet(note()));
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('is not applied while it cannot be recorded', async () => {
    const harness = await harnessOf(note());
    configMap(harness, {});
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'edit' && kind === 'PodSet'
        ? new KubeError('forbidden', 'no', { status: 403 })
        : undefined;
    harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.equal(dataOf(harness), undefined);
    assert.match(harness.ready('one'), /^False Forbidden/);
  });

  test('is withdrawn when `when` becomes false, and applied again', async () => {
    const { harness, one } = await applied();
    harness.edit(one, { spec: { size: 3, off: true } });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
    assert.equal(claimsOf(harness), undefined);
    harness.edit(one, { spec: { size: 4 } });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes', size: '4' });
  });

  test('moves with its target', async () => {
    const { harness, one } = await applied();
    configMap(harness, {}, 'other');
    harness.edit(one, { spec: { size: 3, where: 'other' } });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
    assert.deepEqual(dataOf(harness, 'other'), { size: '3' });
    assert.deepEqual(claimsOf(harness), ['note ConfigMap default/other']);
  });

  test('is kept while its target is not known', async () => {
    const { harness, one } = await applied(
      note().replace("spec.where ?? 'target'", "spec.where = 'x' ? spec.nothing : 'target'"),
    );
    harness.edit(one, { spec: { size: 3, where: 'x' } });
    await harness.settle();
    assert.match(harness.ready('one'), /^False RenderFailed/);
    assert.deepEqual(dataOf(harness), { mine: 'yes', size: '3' });
    assert.deepEqual(claimsOf(harness), ['note ConfigMap default/target']);
  });

  test('removes a field that leaves the patch, also if the process ended before that', async () => {
    const { harness } = await applied();
    const changed = note('withdraw: true', '{ other: "${ $string(spec.size) }" }');
    await harness.restart(planOfPodSet(changed));
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes', other: '3' });
    const both = note('withdraw: true', '{ other: "${ $string(spec.size) }", more: x }');
    await harness.restart(planOfPodSet(both));
    await harness.settle();
    harness.cluster.takeWrites();
    // The record is written, the apply is lost.
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ConfigMap'
        ? new KubeError('connection-lost', 'socket hang up', { status: 0 })
        : undefined;
    await harness.restart(planOfPodSet(changed));
    await harness.runOne('default/one');
    harness.cluster.fault = () => undefined;
    await harness.restart(planOfPodSet(changed));
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes', other: '3' });
  });

  test('is withdrawn before the children of a deleted resource are deleted, then the finalizer is removed', async () => {
    const { harness, one } = await applied(`${note()}
  children:
    - id: web
      deletionPolicy: Delete
      deleteWhen: \${ true }
      template: { apiVersion: v1, kind: Secret, metadata: { name: web } }
`);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
    assert.equal(podSet(harness), undefined);
    const writes = harness.cluster.takeWrites();
    assert.ok(writes.indexOf('apply ConfigMap/target') < writes.indexOf('delete Secret/web'));
  });

  test('does not create a target that is gone', async () => {
    for (const when of ['before', 'during'] as const) {
      const { harness, one } = await applied();
      const remove = () => {
        harness.cluster.server.delete(
          { group: '', version: 'v1', kind: 'ConfigMap' },
          { namespace: 'default', name: 'target' },
        );
      };
      if (when === 'before') remove();
      else
        harness.cluster.fault = ({ verb, kind }) => {
          if (verb === 'apply' && kind === 'ConfigMap') remove();
          return undefined;
        };
      harness.remove(one);
      await harness.settle();
      assert.equal(harness.get('v1', 'ConfigMap', 'target'), undefined, when);
      assert.equal(podSet(harness), undefined, when);
    }
  });

  test('leaves another object of the name as it is', async () => {
    const { harness, one } = await applied();
    let isReplaced = false;
    harness.cluster.fault = ({ verb, kind, manifest }) => {
      if (verb !== 'apply' || kind !== 'ConfigMap' || isReplaced) return undefined;
      isReplaced = true;
      assert.ok(manifest?.metadata.uid);
      harness.remove(harness.get('v1', 'ConfigMap', 'target') as KubeObject);
      configMap(harness, { size: '9' });
      return undefined;
    };
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { size: '9' });
    assert.equal(podSet(harness), undefined);
  });

  test('keeps the finalizer, and reports it, while it may not be withdrawn', async () => {
    const { harness, one } = await applied();
    const right = { verb: 'patch', group: '', resource: 'configmaps', namespace: 'default' };
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ConfigMap'
        ? new KubeError('forbidden', 'no', { status: 403, right })
        : undefined;
    harness.remove(one);
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /^False Forbidden: patches.note: Cannot be withdrawn from ConfigMap "target": The runtime is not allowed to patch configmaps/,
    );
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
  });

  test('is withdrawn by a definition that no longer has it, also one without patches', async () => {
    const { harness } = await applied();
    await harness.restart(planOfPodSet('  status: { a: "${ spec.size }" }\n'));
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
    assert.equal(claimsOf(harness), undefined);
    assert.equal(podSet(harness)?.metadata.finalizers?.length ?? 0, 0);
  });

  test('takes its fields over when it gets another id, without a moment in which they are missing', async () => {
    const { harness } = await applied();
    const seen = new Set<unknown>();
    harness.cluster.server.subscribe(() => seen.add((dataOf(harness) as { size?: string })?.size));
    await harness.restart(
      planOfPodSet(
        note().replace('id: note', 'id: renamed').replace('$string(spec.size)', "'new'"),
      ),
    );
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes', size: 'new' });
    assert.deepEqual(claimsOf(harness), ['renamed ConfigMap default/target']);
    assert.ok(!seen.has(undefined));
    assert.match(harness.ready('one'), /^True AllReady/);
  });

  test('takes its fields over from a patch that was not owned', async () => {
    const { harness, one } = await applied(note('create: false'));
    await harness.restart(
      planOfPodSet(note('withdraw: true', '{ size: "${ $string(spec.size + 1) }" }')),
    );
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes', size: '4' });
    assert.match(harness.ready('one'), /^True AllReady/);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
  });

  test('is withdrawn after a broken definition, too', async () => {
    const { harness, one } = await applied();
    await harness.breakDefinition(planOfPodSet(note()));
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
    assert.equal(podSet(harness), undefined);
  });

  test('is withdrawn with a definition that removes what it has made, and kept with one that does not', async () => {
    for (const deletesChildren of [true, false]) {
      const { harness } = await applied();
      await harness.retire(planOfPodSet(note()), { deletesChildren });
      harness.queued.set('default/one', 'normal');
      await harness.settle();
      assert.deepEqual(
        dataOf(harness),
        deletesChildren ? { mine: 'yes' } : { mine: 'yes', size: '3' },
      );
      assert.ok(podSet(harness));
    }
  });

  test('is not withdrawn while the resource is paused', async () => {
    const { harness, one } = await applied();
    harness.edit(one, {
      spec: { size: 3, off: true },
      metadata: {
        ...podSet(harness)?.metadata,
        annotations: { ...podSet(harness)?.metadata.annotations, 'homeostat.dev/paused': 'true' },
      },
    });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes', size: '3' });
  });

  test('of the resource itself is withdrawn without a finalizer', async () => {
    const harness = await harnessOf(`
  patches:
    - id: mark
      when: \${ $not(spec.off = true) }
      withdraw: true
      patch: { metadata: { labels: { size: "\${ $string(spec.size) }" } } }
`);
    const one = harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.deepEqual(podSet(harness)?.metadata.labels, { size: '3' });
    assert.equal(podSet(harness)?.metadata.finalizers, undefined);
    harness.edit(one, { spec: { size: 3, off: true } });
    await harness.settle();
    assert.deepEqual(podSet(harness)?.metadata.labels ?? {}, {});
    assert.equal(claimsOf(harness), undefined);
    assert.match(harness.ready('one'), /^True AllReady/);
  });

  test('does nothing for a claim that a user has forged', async () => {
    const { harness, one } = await applied();
    configMap(harness, { theirs: 'yes' }, 'victim');
    const stored = podSet(harness);
    const claims = JSON.parse(stored?.metadata.annotations?.[annotation] ?? '{}');
    harness.edit(one, {
      metadata: {
        ...stored?.metadata,
        annotations: {
          [annotation]: JSON.stringify({
            ...claims,
            'note ConfigMap default/victim': 'x',
            'other Secret kube-system/none': 'x',
            nonsense: 3,
          }),
        },
      },
    });
    await harness.settle();
    assert.deepEqual(dataOf(harness, 'victim'), { theirs: 'yes' });
    assert.deepEqual(harness.names('v1', 'Secret'), []);
    assert.deepEqual(claimsOf(harness), ['note ConfigMap default/target']);
  });
});

describe('reconcile/patch with `conflicts`', () => {
  test('`Report` leaves a field of another manager, applies the rest, and reports it', async () => {
    const harness = await harnessOf(
      note('conflicts: Report', '{ size: "${ $string(spec.size) }", more: x }'),
    );
    configMap(harness, { size: '9' });
    const one = harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { size: '9', more: 'x' });
    assert.match(
      harness.ready('one'),
      /^False Conflict: patches.note: data.size is left to field manager "somebody"/,
    );
    harness.cluster.takeWrites();
    await harness.runOne('default/one');
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { size: '9' });
  });

  test('`Report` takes an empty map of another manager', async () => {
    const harness = await harnessOf(note('conflicts: Report'));
    const target = configMap(harness, { mine: 'yes' });
    const one = harness.podSet('one', { size: 3 });
    await harness.settle();
    harness.edit(target, { data: { size: '3' } });
    harness.edit(one, { spec: { size: 3, off: true } });
    await harness.settle();
    assert.equal(dataOf(harness), undefined);
    harness.edit(one, { spec: { size: 4 } });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { size: '4' });
    assert.match(harness.ready('one'), /^True AllReady/);
  });

  test('`Force` takes it, and `withdraw: false` leaves it', async () => {
    const harness = await harnessOf(note('conflicts: Force\n      withdraw: false'));
    configMap(harness, { size: '9' });
    const one = harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { size: '3' });
    assert.equal(podSet(harness)?.metadata.finalizers, undefined);
    assert.deepEqual(
      harness.cluster.server.get(
        { group: '', version: 'v1', kind: 'ConfigMap' },
        'default',
        'target',
      )?.appliedBy,
      [manager],
    );
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { size: '3' });
  });

  test('a definition that keeps the fields from now on drops the record', async () => {
    const { harness, one } = await applied();
    await harness.restart(planOfPodSet(note('withdraw: false')));
    await harness.settle();
    assert.equal(claimsOf(harness), undefined);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes', size: '3' });
  });

  test('two resources do not take a field from each other', async () => {
    const harness = await harnessOf(note('conflicts: Report'));
    configMap(harness, {});
    harness.podSet('one', { size: 1 });
    await harness.settle();
    const two = harness.podSet('two', { size: 2 });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { size: '1' });
    assert.match(harness.ready('two'), /^False Conflict: .*homeostat\/podset\/note\//);
    harness.remove(two);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { size: '1' });
  });
});
