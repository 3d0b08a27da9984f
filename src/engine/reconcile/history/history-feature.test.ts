import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { settle } from '../../../../test/support/fake-clock.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const revisions = gvkOf('apps/v1', 'ControllerRevision');
const key = 'default/one';

const read = (more = '') =>
  `    - { id: configs, apiVersion: v1, kind: ConfigMap, ${more}history: { keep: 10 } }\n`;
const elsewhere = 'crossNamespace: { namespaces: [other] }, namespaces: [other], ';
const all = 'selector: all, ';

/** A resource with ConfigMap `app` in this namespace, which has value 1. */
async function started(body: string, namespace = 'default') {
  const harness = new OperatorHarness(planOfPodSet(body));
  const one = harness.podSet('one');
  const edit = (a: string, labels: Readonly<Record<string, string>> = {}): KubeObject =>
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'app', namespace, labels },
      data: { a },
    }).object;
  edit('1');
  return { harness, one, edit };
}

/** Values in the order of the versions, with a mark for a deletion. */
function values({ cluster }: OperatorHarness): readonly string[] {
  return cluster.server
    .list(revisions)
    .map(({ object }) => object)
    .sort((a, b) => Number(a.revision) - Number(b.revision))
    .map(({ data, metadata }) => {
      const { a } = (data as unknown as KubeObject).data as { readonly a: string };
      const isDeleted = metadata.annotations?.['homeostat.dev/deleted-at'] !== undefined;
      return isDeleted ? `${a} deleted` : a;
    });
}

const refused = new KubeError('server-error', 'no', { status: 500 });

/** Requests that ask for ConfigMaps since the last call. */
function lookUps({ cluster }: OperatorHarness): readonly string[] {
  const found = cluster.requests.filter(({ verb, kind }) => verb === 'get' && kind === 'ConfigMap');
  cluster.requests.length = 0;
  return found.map(({ name }) => name);
}

async function again(harness: OperatorHarness): Promise<void> {
  harness.queued.set(key, 'normal');
  await harness.settle();
}

describe('reconcile/history feature', () => {
  test('what would need the finalizer is not recorded before it is stored', async () => {
    const { harness } = await started(
      `  reads:\n${read(all + elsewhere)}  children: []\n`,
      'other',
    );
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'PodSet' ? refused : undefined;
    await harness.start();
    await harness.settle();
    assert.match(harness.ready('one'), /^False ApplyFailed: finalizer: /);
    assert.deepEqual(values(harness), []);
    harness.cluster.fault = () => undefined;
    await again(harness);
    assert.deepEqual(values(harness), ['1']);
  });

  test('nothing is recorded for a resource that is being deleted, though its deletion reads', async () => {
    const { harness, one, edit } = await started(`
  reads:
${read(all)}
  children:
    - id: held
      deleteWhen: "\${ reads.configs[0].data.a = 'go' }"
      template: { apiVersion: v1, kind: Secret, metadata: { name: held } }
`);
    await harness.start();
    await harness.settle();
    assert.deepEqual(values(harness), ['1']);
    harness.remove(one);
    await harness.settle();
    edit('2');
    await harness.settle();
    assert.match(harness.ready('one'), /^False Terminating: .*kept until "deleteWhen" is true/);
    assert.deepEqual(values(harness), ['1']);
    edit('go');
    await harness.settle();
    assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'one'), undefined);
    assert.deepEqual(values(harness), ['1']);
  });

  test('a version that is being written when the resource is deleted is deleted with it', async () => {
    const { harness, one, edit } = await started(
      `  reads:\n${read(all + elsewhere)}  children: []\n`,
      'other',
    );
    await harness.start();
    await harness.settle();
    const held = Promise.withResolvers<void>();
    harness.cluster.pace = async ({ verb, kind, when }) => {
      if (verb === 'apply' && kind === 'ControllerRevision' && when === 'before')
        await held.promise;
    };
    edit('2');
    harness.deliver();
    for (let turns = 0; turns < 20; turns++) await settle();
    assert.equal(harness.cluster.inFlight, 1);
    harness.remove(one);
    harness.deliver();
    const deletion = harness.settle();
    for (let turns = 0; turns < 20; turns++) await settle();
    assert.deepEqual(values(harness), ['1'], 'its deletion waits for the write');
    held.resolve();
    await deletion;
    assert.deepEqual(values(harness), []);
    assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'one'), undefined);
  });

  test('states that wait are forgotten with a resource that is deleted', async () => {
    const { harness, one, edit } = await started(`  reads:\n${read(all)}  children: []\n`);
    await harness.start();
    await harness.settle();
    harness.cluster.fault = ({ kind }) => (kind === 'ControllerRevision' ? refused : undefined);
    edit('2');
    await harness.settle();
    harness.remove(one);
    await harness.settle();
    harness.cluster.fault = () => undefined;
    await harness.clock.advance(10_000);
    await harness.settle();
    assert.deepEqual(values(harness), ['1']);
  });

  test('states that wait do not hold up the deletion of a resource with our finalizer', async () => {
    const { harness, one, edit } = await started(
      `  reads:\n${read(all + elsewhere)}  children: []\n`,
      'other',
    );
    await harness.start();
    await harness.settle();
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ControllerRevision' ? refused : undefined;
    edit('2');
    await harness.settle();
    harness.remove(one);
    await harness.settle();
    assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'one'), undefined);
    assert.deepEqual(values(harness), []);
  });

  test('objects of a list that is not known are not looked up', async () => {
    const body = `  reads:\n${read(all)}  children: []\n`;
    const { harness } = await started(body);
    await harness.start();
    await harness.settle();
    harness.cluster.block('ConfigMap', new KubeError('unavailable', 'down', { status: 503 }));
    await harness.restart(planOfPodSet(body));
    lookUps(harness);
    await again(harness);
    assert.deepEqual(lookUps(harness), []);
    assert.deepEqual(values(harness), ['1']);
  });

  test('an object that its read no longer finds is looked up once', async () => {
    const selected = 'selector: { matchLabels: { app: "${ spec.app }" } }, ';
    const { harness, one, edit } = await started(`  reads:\n${read(selected)}  children: []\n`);
    const select = async (app: string) => {
      harness.edit(one, { spec: { app } });
      harness.deliver();
      lookUps(harness);
      await harness.settle();
      return lookUps(harness);
    };
    edit('1', { app: 'a' });
    harness.edit(one, { spec: { app: 'a' } });
    await harness.start();
    await harness.settle();
    assert.deepEqual(values(harness), ['1']);
    assert.deepEqual(await select('b'), ['app']);
    assert.deepEqual(await select('c'), []);
    assert.deepEqual(await select('a'), [], 'it is found');
    // Its deletion is no change of what the read selects.
    harness.edit(one, { spec: { app: 'b' } });
    harness.deliver();
    await harness.runOne(key);
    assert.deepEqual(lookUps(harness), ['app'], 'and looked up again when it has been found since');
    assert.deepEqual(values(harness), ['1']);
  });

  test('a deletion while versions cannot be listed is recorded once they can', async () => {
    const body = `  reads:\n${read(all)}  children: []\n`;
    const { harness, edit } = await started(body);
    await harness.start();
    await harness.settle();
    const object = edit('1');
    harness.cluster.lose('ControllerRevision', new KubeError('forbidden', 'no', { status: 403 }));
    harness.remove(object);
    await harness.settle();
    assert.deepEqual(values(harness), ['1']);
    harness.cluster.unblock('ControllerRevision');
    await harness.settle();
    assert.deepEqual(values(harness), ['1 deleted']);
  });

  test('nothing is recorded while the definition is being removed', async () => {
    const body = `
  reads:
${read(all)}
  children:
    - id: held
      deleteWhen: "\${ reads.configs[0].data.a = 'go' }"
      template: { apiVersion: v1, kind: Secret, metadata: { name: held } }
`;
    const { harness, edit } = await started(body);
    await harness.start();
    await harness.settle();
    const removed = await harness.retire(planOfPodSet(body));
    await again(harness);
    edit('2');
    await harness.settle();
    assert.deepEqual([...removed], []);
    edit('go');
    await harness.settle();
    assert.deepEqual([...removed], [key]);
    assert.deepEqual(values(harness), ['1'], 'they are kept, and no other is added');
  });

  test('versions in other namespaces are kept when the definition is removed', async () => {
    const body = `  reads:\n${read(all + elsewhere)}  children: []\n`;
    const { harness, one } = await started(body, 'other');
    await harness.start();
    await harness.settle();
    const removed = await harness.retire(planOfPodSet(body));
    await again(harness);
    assert.deepEqual([...removed], [key]);
    assert.deepEqual(values(harness), ['1']);
    const { finalizers } = harness.get(one.apiVersion, one.kind, 'one')?.metadata ?? {};
    assert.equal(finalizers?.length ?? 0, 0);
  });

  test('what a read without versions finds is not recorded when it changes', async () => {
    const services = '    - { id: services, apiVersion: v1, kind: Service, selector: all }\n';
    const { harness, edit } = await started(`  reads:\n${read(all)}${services}  children: []\n`);
    const metadata = { name: 'app', namespace: 'default' };
    const put = (data: object) =>
      harness.cluster.server.put({ apiVersion: 'v1', kind: 'Service', metadata, data });
    put({ a: '1' });
    await harness.start();
    await harness.settle();
    harness.cluster.takeWrites();
    put({ a: '2' });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    edit('2');
    await harness.settle();
    assert.deepEqual(values(harness), ['1', '2']);
  });

  test('a mark of a deletion that others remove is set again, though no expression reads versions', async () => {
    const body = `  reads:\n${read(all)}  children: []\n`;
    const { harness, edit } = await started(body);
    await harness.start();
    await harness.settle();
    harness.remove(edit('1'));
    // Found by the first reconcile of a process, which looks the object up once.
    await harness.restart(planOfPodSet(body));
    await harness.settle();
    assert.deepEqual(values(harness), ['1 deleted']);
    const [{ object } = assert.fail()] = harness.cluster.server.list(revisions);
    const { annotations: marked, ...metadata } = object.metadata;
    const annotations = Object.fromEntries(
      Object.entries(marked ?? {}).filter(([name]) => !name.startsWith('homeostat.dev/delet')),
    );
    harness.edit(object, { metadata: { ...metadata, annotations } });
    assert.deepEqual(values(harness), ['1']);
    await harness.settle();
    assert.deepEqual(values(harness), ['1 deleted']);
  });
});
