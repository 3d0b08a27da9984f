import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const restart = (more = '') => `
  patches:
    - id: restart
      when: \${ $not(spec.off = true) }
      target: { apiVersion: v1, kind: Pod, name: "\${ spec.pod }" ${more} }
      once: \${ spec.at }
      delete: true
`;

async function harnessOf(body = restart()): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  return harness;
}

function pod(harness: OperatorHarness, name = 'web-0'): KubeObject {
  const metadata = { name, namespace: 'default' };
  return harness.cluster.server.put({ apiVersion: 'v1', kind: 'Pod', metadata }).object;
}

const podSet = (harness: OperatorHarness) => harness.get('apps.example.com/v1', 'PodSet', 'one');
const deletions = (harness: OperatorHarness) =>
  harness.cluster.takeWrites().filter((write) => write.startsWith('delete'));

describe('reconcile/patch that deletes its target', () => {
  test('deletes it once for each value, and not another one of its name', async () => {
    const harness = await harnessOf();
    pod(harness);
    const one = harness.podSet('one', { pod: 'web-0', at: 'monday' });
    await harness.settle();
    assert.deepEqual(deletions(harness), ['delete Pod/web-0']);
    assert.match(harness.ready('one'), /^True AllReady/);
    pod(harness);
    await harness.settle();
    await harness.restart(planOfPodSet(restart()));
    await harness.settle();
    assert.deepEqual(deletions(harness), []);
    harness.edit(one, { spec: { pod: 'web-0', at: 'tuesday' } });
    await harness.settle();
    assert.deepEqual(deletions(harness), ['delete Pod/web-0']);
  });

  test('does nothing without a value, or while `when` is false', async () => {
    const harness = await harnessOf();
    pod(harness);
    const one = harness.podSet('one', { pod: 'web-0' });
    await harness.settle();
    harness.edit(one, { spec: { pod: 'web-0', at: 'monday', off: true } });
    await harness.settle();
    assert.deepEqual(deletions(harness), []);
  });

  test('of an object that does not exist is done', async () => {
    const harness = await harnessOf();
    harness.podSet('one', { pod: 'web-0', at: 'monday' });
    await harness.settle();
    assert.match(harness.ready('one'), /^True AllReady/);
    pod(harness);
    await harness.settle();
    assert.deepEqual(deletions(harness), []);
  });

  test('a process that ends at any request deletes one object only', async () => {
    for (let at = 1; at < 8; at++) {
      const harness = await harnessOf();
      const { uid } = pod(harness).metadata;
      const deleted: (string | undefined)[] = [];
      harness.cluster.server.subscribe(({ before, deleted: isDeleted, gvk }) => {
        if (!isDeleted || gvk.kind !== 'Pod') return;
        deleted.push(before?.object.metadata.uid);
        // As a StatefulSet does.
        queueMicrotask(() => pod(harness));
      });
      let moments = 0;
      harness.cluster.pace = () => {
        moments += 1;
        return moments === at ? new Promise(() => undefined) : Promise.resolve();
      };
      harness.podSet('one', { pod: 'web-0', at: 'monday' });
      harness.cluster.deliver();
      const pass = harness.runOne('default/one');
      await Promise.race([pass, harness.clock.advance(0)]);
      for (let turns = 0; turns < 50; turns++) await Promise.resolve();
      harness.cluster.pace = undefined;
      await harness.restart(planOfPodSet(restart()));
      await harness.settle();
      assert.deepEqual(deleted, [uid], `killed at ${at}`);
      assert.ok(harness.get('v1', 'Pod', 'web-0'));
    }
  });

  test('does not delete a child', async () => {
    const harness = await harnessOf(`${restart()}
  children:
    - id: web
      template: { apiVersion: v1, kind: Pod, metadata: { name: web-0 }, spec: { containers: [{ name: a, image: b }] } }
`);
    harness.podSet('one', { pod: 'web-0', at: 'monday' });
    await harness.settle();
    assert.deepEqual(deletions(harness), []);
    assert.match(
      harness.ready('one'),
      /patches.restart: Pod "web-0" is a child of the resource: it would be created again/,
    );
  });

  test('does not delete the resource itself, or set its status', async () => {
    for (const effect of [
      'once: monday\n      delete: true',
      'status: true\n      patch: { status: { a: b } }',
    ]) {
      const harness = await harnessOf(`
  patches:
    - id: itself
      target: { apiVersion: apps.example.com/v1, kind: PodSet, name: "\${ spec.pod }" }
      ${effect}
`);
      harness.podSet('one', { pod: 'one' });
      await harness.settle();
      assert.ok(podSet(harness), effect);
      assert.match(
        harness.ready('one'),
        /^False RenderFailed: patches.itself: .*the resource itself/,
      );
      assert.deepEqual(deletions(harness), []);
    }
  });

  test('deletes nothing if the resource is gone when that is recorded', async () => {
    const harness = await harnessOf();
    pod(harness);
    const one = harness.podSet('one', { pod: 'web-0', at: 'monday' });
    harness.cluster.fault = ({ verb, kind }) => {
      if (verb === 'edit' && kind === 'PodSet')
        harness.cluster.server.delete(
          { group: 'apps.example.com', version: 'v1', kind: 'PodSet' },
          { namespace: 'default', name: one.metadata.name },
        );
      return undefined;
    };
    await harness.settle();
    assert.deepEqual(deletions(harness), []);
    assert.ok(harness.get('v1', 'Pod', 'web-0'));
  });

  test('another namespace needs crossNamespace', async () => {
    const harness = await harnessOf(
      restart(', namespace: "${ spec.where }"').replace(
        'delete: true',
        'delete: true\n      crossNamespace: { namespaces: [team-*] }',
      ),
    );
    harness.podSet('one', { pod: 'web-0', at: 'monday', where: 'kube-system' });
    await harness.settle();
    assert.match(harness.ready('one'), /^False RenderFailed: patches.restart: .*kube-system/);
    assert.deepEqual(deletions(harness), []);
  });

  test('a missing right is reported, and not asked for again', async () => {
    const harness = await harnessOf();
    pod(harness);
    const right = { verb: 'delete', group: '', resource: 'pods', namespace: 'default' };
    harness.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('forbidden', 'no', { status: 403, right }) : undefined;
    harness.podSet('one', { pod: 'web-0', at: 'monday' });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /^False Forbidden: patches.restart: The runtime is not allowed to delete pods/,
    );
    harness.cluster.takeWrites();
    await harness.runOne('default/one');
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.settle();
    assert.deepEqual(deletions(harness), ['delete Pod/web-0']);
    assert.ok(podSet(harness));
  });
});
