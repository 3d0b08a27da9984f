import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../test/support/definition-parser.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { locatedThing, RuntimeFakeCluster } from '../../test/support/fakes/definition-world.ts';
import { QuietCluster } from '../../test/support/fakes/quiet-cluster.ts';
import { freshMetrics, silentLogger } from '../../test/support/silent-telemetry.ts';
import { KubeError, type ResourceType } from '../kube/roles.ts';
import { gvkOf } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { createSystemRandom } from '../util/random.ts';
import { crdGvk } from './crd/index.ts';
import { startFinisher } from './definition-finisher.ts';

const secretType: ResourceType = {
  gvk: gvkOf('v1', 'Secret'),
  plural: 'secrets',
  namespaced: true,
  hasStatus: false,
  verbs: [],
};

/** For Secrets with a label. Nothing in this text needs a finalizer. */
const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shadow }
spec:
  for: { apiVersion: v1, kind: Secret, selector: { matchLabels: { shadowed: "yes" } } }
  children: []
`;

async function finish(object: KubeObject) {
  const [located] = definitionParser.parse(text, 'shadow.yaml').definitions;
  assert.ok(located);
  const cluster = new QuietCluster([secretType]);
  const { namespace, name } = cluster.server.put(object).object.metadata;
  cluster.server.delete(secretType.gvk, { namespace, name });
  const finisher = startFinisher(
    {
      definition: located.definition,
      cluster,
      clock: new FakeClock(),
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
    },
    new AbortController().signal,
  );
  for (let rounds = 0; rounds < 20; rounds++) {
    cluster.deliver();
    await settle();
  }
  const watched = cluster.watched.length;
  await finisher.stop();
  return { watched, left: cluster.server.get(secretType.gvk, namespace, name) };
}

function secret(metadata: object): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a', namespace: 'default', ...metadata },
  };
}

describe('runtime/definition-finisher, of a kind of `for`', () => {
  for (const labels of [{ shadowed: 'yes' }, { shadowed: 'no' }]) {
    test(`what has our finalizer from an earlier text comes to its end, shadowed: ${labels.shadowed}`, async () => {
      const { left } = await finish(secret({ labels, finalizers: ['homeostat.dev/shadow'] }));
      assert.equal(left, undefined);
    });
  }

  test('a kind in which nothing was left is not watched', async () => {
    const { left, watched } = await finish(secret({ finalizers: ['example.com/theirs'] }));
    assert.ok(left);
    assert.equal(watched, 0);
  });
});

const names = ['one', 'two', 'three'];

/** What a definition of this name has installed. */
function crdOf(name: string): KubeObject {
  const { kind } = locatedThing(name).definition;
  assert.ok(kind.source === 'crd');
  const labels = {
    'app.kubernetes.io/managed-by': 'homeostat',
    'homeostat.dev/definition': name,
  };
  const { metadata, ...crd } = kind.crd;
  return { ...crd, metadata: { ...metadata, labels } } as KubeObject;
}

/** Finishers of several definitions that bring their CRDs, in a cluster that has some of these. */
async function finishAll(
  installed: readonly string[],
  terms: { readonly isBroken?: boolean; readonly blocked?: KubeError } = {},
) {
  const { blocked, ...options } = terms;
  const cluster = new RuntimeFakeCluster();
  if (blocked !== undefined) cluster.block(crdGvk.kind, blocked);
  for (const name of installed) cluster.server.put(crdOf(name));
  const stopper = new AbortController();
  const ended: string[] = [];
  const finishers = names.map((name) => {
    const finisher = startFinisher(
      {
        definition: locatedThing(name).definition,
        cluster,
        clock: new FakeClock(),
        random: createSystemRandom(),
        logger: silentLogger(),
        metrics: freshMetrics(),
        ...options,
      },
      stopper.signal,
    );
    void finisher.ended.then(() => ended.push(name));
    return finisher;
  });
  const deliver = async () => {
    do await settle();
    while (cluster.deliver());
    await settle();
  };
  await deliver();
  const watches = () => cluster.watched.filter(({ gvk }) => gvk.kind === crdGvk.kind).length;
  const stop = async () => {
    stopper.abort();
    await Promise.all(finishers.map((finisher) => finisher.ended));
  };
  return { cluster, ended, deliver, watches, stop };
}

describe('runtime/definition-finisher, of a kind that the definition brings', () => {
  test('where no CRD carries the name of a definition that is gone it ends', async () => {
    const { ended, watches, stop } = await finishAll([]);
    assert.deepEqual(ended, names);
    assert.equal(watches(), 0);
    await stop();
  });

  test('those that are left share one watch, and end with their CRD', async () => {
    const { cluster, ended, deliver, watches, stop } = await finishAll(['one', 'two']);
    assert.deepEqual(ended, ['three']);
    assert.equal(watches(), 1);
    cluster.server.delete(crdGvk, { namespace: undefined, name: crdOf('one').metadata.name });
    await deliver();
    assert.deepEqual(ended, ['three', 'one']);
    cluster.server.delete(crdGvk, { namespace: undefined, name: crdOf('two').metadata.name });
    await deliver();
    assert.deepEqual(ended, ['three', 'one', 'two']);
    assert.equal(watches(), 0);
    await stop();
  });

  test('what cannot be listed is not absent', async () => {
    const blocked = new KubeError('forbidden', 'no', { status: 403 });
    const { ended, stop } = await finishAll(['one'], { blocked });
    assert.deepEqual(ended, []);
    await stop();
  });

  test('of definitions that are broken the CRD is waited for', async () => {
    const { ended, watches, stop } = await finishAll([], { isBroken: true });
    assert.deepEqual([ended, watches()], [[], 1]);
    await stop();
    assert.equal(watches(), 0);
  });
});
