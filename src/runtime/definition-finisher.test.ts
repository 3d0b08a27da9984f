import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { FakeCluster } from '../../test/support/fakes/fake-cluster.ts';
import { freshMetrics, silentLogger } from '../../test/support/silent-telemetry.ts';
import { createDefinitionParser } from '../definition/index.ts';
import type { EventsRefused, ResourceType } from '../kube/roles.ts';
import { gvkOf } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { createSystemRandom } from '../util/random.ts';
import { startFinisher } from './definition-finisher.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';

const secretType: ResourceType = {
  gvk: gvkOf('v1', 'Secret'),
  plural: 'secrets',
  namespaced: true,
  hasStatus: false,
  verbs: [],
};

class QuietCluster extends FakeCluster implements RuntimeCluster {
  readonly silence = undefined;
  readonly eventsRefused: EventsRefused | undefined;

  async fetchKindSchema(): Promise<undefined> {
    return undefined;
  }

  onReachable(): () => void {
    return () => {};
  }

  kindChanged(): void {}
}

/** For Secrets with a label. Nothing in this text needs a finalizer. */
const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shadow }
spec:
  for: { apiVersion: v1, kind: Secret, selector: { matchLabels: { shadowed: "yes" } } }
  children: []
`;

async function finish(object: KubeObject) {
  const [located] = createDefinitionParser().parse(text, 'shadow.yaml').definitions;
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
