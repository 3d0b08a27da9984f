import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { onceAnnotationOf, patchedAnnotationOf } from '#util/stored-names.ts';
import { FakeCluster } from '../../../../test/support/fakes/fake-cluster.ts';
import { ManagedServer } from '../../../../test/support/fakes/managed-server.ts';
import { OperatorHarness, types } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const each = (more = 'withdraw: true', fields = '{ size: "${ $string($item.size) }" }') => `
  patches:
    - id: each
      when: \${ $not(spec.off = true) }
      forEach: \${ spec.targets }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item.name }" }
      ${more}
      patch: { data: ${fields} }
`;

async function harnessOf(body = each()): Promise<OperatorHarness> {
  const cluster = new FakeCluster(types, new ManagedServer(types));
  const harness = new OperatorHarness(planOfPodSet(body), undefined, cluster);
  await harness.start();
  return harness;
}

const podSet = (harness: OperatorHarness) =>
  harness.get('apps.example.com/v1', 'PodSet', 'one') as KubeObject;
const dataOf = (harness: OperatorHarness, name: string) =>
  harness.get('v1', 'ConfigMap', name)?.data;
const recorded = (harness: OperatorHarness, annotation: string): readonly string[] =>
  Object.keys(JSON.parse(podSet(harness).metadata.annotations?.[annotation] ?? '{}'));
const claimsOf = (harness: OperatorHarness) => recorded(harness, patchedAnnotationOf('podset'));

function configMaps(harness: OperatorHarness, ...names: readonly string[]): void {
  for (const name of names) {
    const metadata = { name, namespace: 'default' };
    harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  }
}

const targets = (...names: readonly string[]) => names.map((name) => ({ name, size: 3 }));

/** A resource whose elements `a` and `b` are applied. */
async function applied(body = each()) {
  const harness = await harnessOf(body);
  configMaps(harness, 'a', 'b', 'c');
  const one = harness.podSet('one', { targets: targets('a', 'b') });
  await harness.settle();
  return { harness, one };
}

describe('reconcile/patch of a list of targets', () => {
  test('records all elements in one request before the first apply, and costs nothing when they are as desired', async () => {
    const { harness } = await applied();
    assert.deepEqual(harness.cluster.takeWrites(), [
      'edit PodSet/one',
      'apply ConfigMap/a',
      'apply ConfigMap/b',
      'status PodSet/one',
    ]);
    assert.deepEqual(claimsOf(harness), ['each ConfigMap default/a', 'each ConfigMap default/b']);
    assert.match(harness.ready('one'), /^True AllReady/);
    await harness.runOne('default/one');
    await harness.restart(planOfPodSet(each()));
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('an element that is removed is withdrawn, one that moves is left as it is', async () => {
    const { harness, one } = await applied();
    harness.cluster.takeWrites();
    harness.edit(one, { spec: { targets: targets('c', 'b') } });
    await harness.settle();
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => dataOf(harness, name)),
      [undefined, { size: '3' }, { size: '3' }],
    );
    const writes = harness.cluster.takeWrites();
    assert.ok(!writes.includes('apply ConfigMap/b'), writes.join());
    assert.deepEqual(claimsOf(harness), ['each ConfigMap default/b', 'each ConfigMap default/c']);
  });

  for (const [name, spec] of [
    ['`when` is false', { off: true, targets: targets('a', 'b') }],
    ['the list is empty', { targets: [] }],
  ] as const)
    test(`all elements are withdrawn when ${name}`, async () => {
      const { harness, one } = await applied();
      harness.edit(one, { spec });
      await harness.settle();
      assert.deepEqual([dataOf(harness, 'a'), dataOf(harness, 'b')], [undefined, undefined]);
      assert.deepEqual(claimsOf(harness), []);
    });

  test('all elements are withdrawn with the resource, also by a definition without the patch', async () => {
    for (const plan of [planOfPodSet(each()), planOfPodSet('  status: { a: b }\n')]) {
      const { harness, one } = await applied();
      await harness.restart(plan);
      harness.remove(one);
      await harness.settle();
      assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'one'), undefined);
      assert.deepEqual([dataOf(harness, 'a'), dataOf(harness, 'b')], [undefined, undefined]);
    }
  });

  test('while the list is not known, nothing is withdrawn', async () => {
    const { harness, one } = await applied();
    harness.edit(one, { spec: {} });
    await harness.settle();
    assert.match(harness.ready('one'), /^False RenderFailed: .*Missing value "spec.targets"/);
    assert.deepEqual(dataOf(harness, 'a'), { size: '3' });
  });

  test('an element that cannot be evaluated, or may not be patched, keeps its own fields and holds no other back', async () => {
    const { harness, one } = await applied(
      each('withdraw: true', '{ size: "${ $item.size } kg" }'),
    );
    harness.edit(one, { spec: { targets: [{ name: 'b' }, ...targets('c')] } });
    await harness.settle();
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => dataOf(harness, name)),
      [undefined, { size: '3 kg' }, { size: '3 kg' }],
    );
    assert.match(harness.ready('one'), /^False RenderFailed: patches\.each\[0\]: /);
    // Without its name, each of them may be meant.
    harness.edit(podSet(harness), { spec: { targets: [{ size: 3 }] } });
    await harness.settle();
    assert.deepEqual(
      [dataOf(harness, 'b'), dataOf(harness, 'c')],
      [{ size: '3 kg' }, { size: '3 kg' }],
    );
  });

  test('two elements with one target fail, others are applied', async () => {
    const { harness, one } = await applied();
    harness.edit(one, { spec: { targets: targets('a', 'c', 'a') } });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /^False RenderFailed: patches\.each: target\.name: "a" is used by two elements$/,
    );
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => dataOf(harness, name)),
      [{ size: '3' }, undefined, { size: '3' }],
    );
  });

  test('a target that does not exist is waited for, without a record', async () => {
    const { harness, one } = await applied();
    harness.edit(one, { spec: { targets: targets('a', 'later') } });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /^False Waiting: patches\.each\[1\]: Waiting for ConfigMap "later"/,
    );
    assert.deepEqual(claimsOf(harness), ['each ConfigMap default/a']);
    configMaps(harness, 'later');
    await harness.settle();
    assert.deepEqual(dataOf(harness, 'later'), { size: '3' });
  });

  test('more elements than can be recorded are an error before anything is sent', async () => {
    const harness = await harnessOf();
    const names = Array.from({ length: 251 }, (_, index) => `m${index}`);
    configMaps(harness, ...names);
    harness.podSet('one', { targets: targets(...names) });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /^False LimitReached: .*Expected at most 250 elements, found "251"/,
    );
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/one']);
  });

  test('a record that would be too long is an error before anything is sent', async () => {
    const harness = await harnessOf();
    const names = Array.from({ length: 250 }, (_, index) => `${'m'.repeat(240)}${index}`);
    configMaps(harness, ...names);
    harness.podSet('one', { targets: targets(...names) });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /^False LimitReached: patches\.each: Expected at most 65536 characters in the annotation "patched\.homeostat\.dev\/podset"/,
    );
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/one']);
  });

  test('a list that another one replaces makes room for it', async () => {
    const harness = await harnessOf();
    const old = Array.from({ length: 200 }, (_, index) => `old${index}`);
    const next = Array.from({ length: 200 }, (_, index) => `new${index}`);
    configMaps(harness, ...old, ...next);
    const one = harness.podSet('one', { targets: targets(...old) });
    await harness.settle();
    harness.edit(one, { spec: { targets: targets(...next) } });
    await harness.settle();
    assert.match(harness.ready('one'), /^True AllReady/);
    assert.deepEqual(
      [dataOf(harness, 'old7'), dataOf(harness, 'new7')],
      [undefined, { size: '3' }],
    );
    assert.equal(claimsOf(harness).length, 200);
  });

  test('`once` holds for each element, and an element that comes back is sent again', async () => {
    const body = each('once: ${ $item.at }', '{ at: "${ $item.at }" }');
    const harness = await harnessOf(body);
    configMaps(harness, 'a', 'b');
    const list = (...elements: readonly (readonly [string, string])[]) => ({
      spec: { targets: elements.map(([name, at]) => ({ name, at })) },
    });
    const one = harness.podSet('one', list(['a', 'monday'], ['b', 'monday']).spec);
    const sent = async () => {
      await harness.settle();
      return harness.cluster.takeWrites().filter((write) => write.startsWith('apply'));
    };
    assert.deepEqual(await sent(), ['apply ConfigMap/a', 'apply ConfigMap/b']);
    harness.cluster.server.put({
      ...(harness.get('v1', 'ConfigMap', 'a') as KubeObject),
      data: { at: 'theirs' },
    } as KubeObject);
    assert.deepEqual(await sent(), []);
    harness.edit(one, list(['a', 'monday'], ['b', 'tuesday']));
    assert.deepEqual(await sent(), ['apply ConfigMap/b']);
    assert.equal(recorded(harness, onceAnnotationOf('podset')).length, 2);
    harness.edit(podSet(harness), list(['b', 'tuesday']));
    assert.deepEqual(await sent(), []);
    assert.equal(recorded(harness, onceAnnotationOf('podset')).length, 1);
    harness.edit(podSet(harness), list(['a', 'monday'], ['b', 'tuesday']));
    assert.deepEqual(await sent(), ['apply ConfigMap/a']);
  });

  test('`delete` deletes each target once', async () => {
    const body = `
  patches:
    - id: each
      forEach: \${ spec.targets }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item.name }" }
      once: \${ spec.at }
      delete: true
`;
    const harness = await harnessOf(body);
    configMaps(harness, 'a', 'b');
    harness.podSet('one', { targets: targets('a', 'b'), at: 'monday' });
    await harness.settle();
    const deletions = () =>
      harness.cluster.takeWrites().filter((write) => write.startsWith('delete'));
    assert.deepEqual(deletions(), ['delete ConfigMap/a', 'delete ConfigMap/b']);
    configMaps(harness, 'a', 'b');
    await harness.settle();
    await harness.restart(planOfPodSet(body));
    await harness.settle();
    assert.deepEqual(deletions(), []);
  });

  test('`status` sets and withdraws the status of each target', async () => {
    const harness = await harnessOf(`
  patches:
    - id: each
      forEach: \${ spec.targets }
      target: { apiVersion: v1, kind: Service, name: "\${ $item }" }
      status: true
      withdraw: true
      patch: { status: { loadBalancer: { ingress: [{ ip: "\${ spec.ip }" }] } } }
`);
    for (const name of ['a', 'b'])
      harness.cluster.server.put({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, namespace: 'default' },
      });
    const one = harness.podSet('one', { targets: ['a', 'b'], ip: '192.0.2.1' });
    await harness.settle();
    const ips = () =>
      ['a', 'b'].map((name) =>
        JSON.stringify(harness.get('v1', 'Service', name)?.status ?? {}).includes('192.0.2.1'),
      );
    assert.deepEqual(ips(), [true, true]);
    harness.edit(one, { spec: { targets: ['b'], ip: '192.0.2.1' } });
    await harness.settle();
    assert.deepEqual(ips(), [false, true]);
  });

  test('`at: Deletion` is sent to each target, and a failing one keeps the resource', async () => {
    const harness = await harnessOf(`
  patches:
    - id: each
      forEach: \${ spec.targets }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item.name }" }
      at: Deletion
      patch: { data: { gone: "\${ metadata.name }" } }
`);
    configMaps(harness, 'a', 'b');
    const one = harness.podSet('one', { targets: targets('a', 'b') });
    await harness.settle();
    const right = { verb: 'patch', group: '', resource: 'configmaps', namespace: 'default' };
    harness.cluster.fault = ({ verb, name }) =>
      verb === 'apply' && name === 'b'
        ? new KubeError('forbidden', 'no', { status: 403, right })
        : undefined;
    harness.remove(one);
    await harness.settle();
    assert.deepEqual([dataOf(harness, 'a'), dataOf(harness, 'b')], [{ gone: 'one' }, undefined]);
    assert.match(harness.ready('one'), /^False Forbidden: patches\.each\[1\]: /);
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.settle();
    assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'one'), undefined);
    assert.deepEqual(dataOf(harness, 'b'), { gone: 'one' });
  });

  test('without `withdraw`, fields of an element that is removed stay', async () => {
    const { harness, one } = await applied(each('create: false'));
    harness.edit(one, { spec: { targets: [] } });
    await harness.settle();
    assert.deepEqual(dataOf(harness, 'a'), { size: '3' });
    assert.equal(podSet(harness).metadata.annotations?.[patchedAnnotationOf('podset')], undefined);
  });

  test('a definition that keeps the fields from now on withdraws nothing while targets cannot be read', async () => {
    const { harness } = await applied();
    const forbidden = new KubeError('forbidden', 'no', { status: 403 });
    harness.cluster.block('ConfigMap', forbidden);
    await harness.restart(planOfPodSet(each('create: false')));
    await harness.settle();
    assert.match(harness.ready('one'), /^False /);
    assert.deepEqual([dataOf(harness, 'a'), dataOf(harness, 'b')], [{ size: '3' }, { size: '3' }]);
    assert.equal(claimsOf(harness).length, 2);
  });

  test('a definition that keeps the fields from now on withdraws no element with the target of another one', async () => {
    const { harness, one } = await applied();
    harness.operator.stop();
    harness.edit(one, { spec: { targets: targets('a', 'b', 'b') } });
    await harness.restart(planOfPodSet(each('create: false')));
    await harness.settle();
    assert.match(harness.ready('one'), /is used by two elements/);
    assert.deepEqual(dataOf(harness, 'b'), { size: '3' });
  });

  test('an element without a value of `once` does not keep what is recorded of removed elements', async () => {
    const body = each('once: ${ $item.at }', '{ at: "${ $item.at }" }');
    const harness = await harnessOf(body);
    configMaps(harness, 'a', 'b', 'c');
    const spec = (...names: readonly string[]) => ({
      targets: [...names.map((name) => ({ name, at: 'monday' })), { name: 'c' }],
    });
    harness.podSet('one', spec('a', 'b'));
    await harness.settle();
    assert.equal(recorded(harness, onceAnnotationOf('podset')).length, 2);
    harness.edit(podSet(harness), { spec: spec('b') });
    await harness.settle();
    assert.equal(recorded(harness, onceAnnotationOf('podset')).length, 1);
  });

  test('an id that changes leaves no moment without the fields, also of more elements than can be recorded twice', async () => {
    const harness = await harnessOf();
    const names = Array.from({ length: 200 }, (_, index) => `m${index}`);
    configMaps(harness, ...names);
    harness.podSet('one', { targets: targets(...names) });
    await harness.settle();
    assert.match(harness.ready('one'), /^True AllReady/);
    const lost = new Set<string>();
    harness.cluster.onRequest = () => {
      for (const name of names)
        if ((dataOf(harness, name) as { size?: string })?.size !== '3') lost.add(name);
    };
    await harness.restart(planOfPodSet(each().replace('id: each', 'id: other')));
    await harness.settle();
    assert.match(harness.ready('one'), /^True AllReady/);
    assert.deepEqual([...lost], []);
    assert.equal(claimsOf(harness).length, 200);
  });

  test('an id that changes withdraws nothing while the targets cannot be read', async () => {
    const { harness } = await applied();
    harness.cluster.block('ConfigMap', new KubeError('forbidden', 'no', { status: 403 }));
    await harness.restart(planOfPodSet(each().replace('id: each', 'id: other')));
    await harness.settle();
    assert.match(harness.ready('one'), /^False /);
    assert.deepEqual([dataOf(harness, 'a'), dataOf(harness, 'b')], [{ size: '3' }, { size: '3' }]);
  });

  test('a list of children keeps those of which an element cannot be rendered', async () => {
    const harness = await harnessOf(`
  children:
    - id: maps
      forEach: \${ spec.maps }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "one-\${ $item.name }" }, data: { v: "\${ $item.v } kg" } }
  patches:
    - id: each
      forEach: \${ children.maps }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item.metadata.name & '-t' }" }
      withdraw: true
      patch: { data: { size: "3" } }
`);
    configMaps(harness, 'one-a-t', 'one-b-t');
    harness.podSet('one', {
      maps: [
        { name: 'a', v: 'x' },
        { name: 'b', v: 'x' },
      ],
    });
    await harness.settle();
    assert.deepEqual(dataOf(harness, 'one-b-t'), { size: '3' });
    harness.edit(podSet(harness), { spec: { maps: [{ name: 'a', v: 'x' }, { name: 'b' }] } });
    await harness.settle();
    assert.match(harness.ready('one'), /^False RenderFailed/);
    assert.deepEqual(dataOf(harness, 'one-b-t'), { size: '3' });
  });
});
