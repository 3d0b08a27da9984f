import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  deletionPatchesAnnotationOf,
  finalizerOf,
  skipOnDeleteAnnotation,
} from '#util/stored-names.ts';
import { FakeCluster } from '../../../../test/support/fakes/fake-cluster.ts';
import { ManagedServer } from '../../../../test/support/fakes/managed-server.ts';
import { OperatorHarness, types } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const annotation = deletionPatchesAnnotationOf('podset');

const farewell = (more = '', target = 'name: target') => `
  children:
    - id: settings
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: settings }, data: { size: "\${ $string(spec.size) }" } }
  patches:
    - id: farewell
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, ${target} }
      ${more}
      patch: { data: { last: "\${ children.settings.data.size }" } }
`;

async function harnessOf(body = farewell()): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  return harness;
}

const podSet = (harness: OperatorHarness) => harness.get('apps.example.com/v1', 'PodSet', 'one');
const dataOf = (harness: OperatorHarness, name = 'target') =>
  harness.get('v1', 'ConfigMap', name)?.data;
const applies = (harness: OperatorHarness) =>
  harness.cluster.takeWrites().filter((write) => write.endsWith(' ConfigMap/target'));

function configMap(harness: OperatorHarness, name = 'target'): KubeObject {
  const metadata = { name, namespace: 'default' };
  return harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata }).object;
}

/** A resource that is ready. */
async function ready(body?: string): Promise<{ harness: OperatorHarness; one: KubeObject }> {
  const harness = await harnessOf(body);
  configMap(harness);
  const one = harness.podSet('one', { size: 3 });
  await harness.settle();
  assert.match(harness.ready('one'), /^True AllReady/);
  return { harness, one };
}

describe('reconcile/patch of a deletion', () => {
  test('sets the finalizer first, costs nothing while the resource lives, and is sent before the children are deleted', async () => {
    const { harness, one } = await ready();
    assert.deepEqual(podSet(harness)?.metadata.finalizers, [finalizerOf('podset')]);
    const [first] = harness.cluster.takeWrites();
    assert.equal(first, 'apply PodSet/one');
    await harness.runOne('default/one');
    await harness.restart(planOfPodSet(farewell()));
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.equal(dataOf(harness), undefined);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { last: '3' });
    assert.equal(podSet(harness), undefined);
    const writes = harness.cluster.takeWrites();
    assert.equal(writes[0], 'apply ConfigMap/target');
  });

  test('a process that ends at any request has it sent, and its values are those of the beginning', async () => {
    for (let at = 1; at < 8; at++) {
      const { harness, one } = await ready();
      let moments = 0;
      harness.cluster.pace = () => {
        moments += 1;
        return moments === at ? new Promise(() => undefined) : Promise.resolve();
      };
      harness.remove(one);
      harness.cluster.deliver();
      const pass = harness.runOne('default/one');
      await Promise.race([pass, harness.clock.advance(0)]);
      for (let turns = 0; turns < 50; turns++) await Promise.resolve();
      harness.cluster.pace = undefined;
      await harness.restart(planOfPodSet(farewell()));
      await harness.settle();
      assert.deepEqual(dataOf(harness), { last: '3' }, `killed at ${at}`);
      assert.equal(podSet(harness), undefined, `killed at ${at}`);
    }
  });

  test('a target that is gone needs none; `create` creates it', async () => {
    for (const create of [false, true]) {
      const { harness, one } = await ready(farewell(`create: ${create}`, 'name: gone'));
      harness.remove(one);
      await harness.settle();
      assert.equal(podSet(harness), undefined);
      assert.deepEqual(dataOf(harness, 'gone'), create ? { last: '3' } : undefined);
    }
  });

  test('a missing right keeps the children, is reported, and can be skipped', async () => {
    for (const end of ['grant', 'skip'] as const) {
      const { harness, one } = await ready();
      const right = { verb: 'patch', group: '', resource: 'configmaps', namespace: 'default' };
      harness.cluster.fault = ({ verb, name }) =>
        verb === 'apply' && name === 'target'
          ? new KubeError('forbidden', 'no', { status: 403, right })
          : undefined;
      harness.remove(one);
      await harness.settle();
      assert.match(harness.ready('one'), /^False Forbidden: patches.farewell: /);
      assert.ok(harness.get('v1', 'ConfigMap', 'settings'));
      harness.cluster.takeWrites();
      await harness.runOne('default/one');
      assert.deepEqual(applies(harness), []);
      if (end === 'grant') {
        harness.cluster.fault = () => undefined;
        harness.cluster.rights.grant();
      } else {
        const metadata = podSet(harness)?.metadata;
        const annotations = { ...metadata?.annotations, [skipOnDeleteAnnotation]: 'true' };
        harness.edit(one, { metadata: { ...metadata, annotations } as never });
      }
      await harness.settle();
      assert.equal(podSet(harness), undefined, end);
      assert.deepEqual(dataOf(harness), end === 'grant' ? { last: '3' } : undefined);
    }
  });

  test('one that cannot be rendered keeps the children', async () => {
    const { harness, one } = await ready(
      farewell().replace('children.settings.data.size', '$number(metadata.name)'),
    );
    harness.remove(one);
    await harness.settle();
    assert.match(harness.ready('one'), /^False RenderFailed: patches.farewell: /);
    assert.ok(harness.get('v1', 'ConfigMap', 'settings'));
  });

  test('is not sent to a resource that stays, and an edited definition gives the finalizer back', async () => {
    const { harness } = await ready();
    await harness.restart(planOfPodSet(farewell().replace(/ {2}patches:[\s\S]*/, '')));
    await harness.settle();
    assert.equal(podSet(harness)?.metadata.finalizers?.length ?? 0, 0);
    assert.equal(podSet(harness)?.metadata.annotations?.[annotation], undefined);
    assert.equal(dataOf(harness), undefined);
  });

  test('waits for a broken definition, unless it is skipped', async () => {
    const { harness, one } = await ready();
    await harness.breakDefinition(planOfPodSet(farewell()));
    harness.remove(one);
    await harness.settle();
    assert.match(harness.ready('one'), /^False DefinitionBroken: .*"at: Deletion"/);
    assert.ok(harness.get('v1', 'ConfigMap', 'settings'));
    await harness.restart(planOfPodSet(farewell()));
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    assert.deepEqual(dataOf(harness), { last: '3' });
  });

  test('has the last word over a withdrawn patch of the same field', async () => {
    const withdrawn = `
    - id: size
      target: { apiVersion: v1, kind: ConfigMap, name: target }
      withdraw: true
      patch: { data: { last: now, size: "\${ $string(spec.size) }" } }
`;
    const cluster = new FakeCluster(types, new ManagedServer(types));
    const plan = planOfPodSet(`${farewell()}${withdrawn}`);
    const harness = new OperatorHarness(plan, undefined, cluster);
    await harness.start();
    configMap(harness);
    const one = harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { last: 'now', size: '3' });
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { last: '3' });
    assert.equal(podSet(harness), undefined);
  });

  test('in a terminating namespace, nothing is created', async () => {
    const { harness, one } = await ready(farewell('create: true', 'name: gone'));
    harness.cluster.fault = ({ name }) =>
      name === 'gone' ? new KubeError('namespace-terminating', 'no', { status: 403 }) : undefined;
    harness.remove(one);
    await harness.settle();
    assert.equal(podSet(harness), undefined);
  });

  test('in a terminating namespace, what can no longer be rendered holds nothing', async () => {
    const { harness, one } = await ready(
      farewell().replace('children.settings.data.size', '$number(metadata.name)'),
    );
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] },
    });
    harness.remove(one);
    await harness.settle();
    assert.equal(podSet(harness), undefined);
  });

  test('deletes an object without `once`', async () => {
    const body = `
  patches:
    - id: clear
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: target }
      delete: true
`;
    const { harness, one } = await ready(body);
    assert.ok(harness.get('v1', 'ConfigMap', 'target'));
    harness.remove(one);
    await harness.settle();
    assert.equal(harness.get('v1', 'ConfigMap', 'target'), undefined);
    assert.equal(podSet(harness), undefined);
  });
});
