import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { silentLogger } from '#telemetry';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { Simulation } from './simulation.ts';
import { TestClusters } from './test-clusters.ts';

const definition = `
apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shop }
spec:
  crd:
    group: shops.example.com
    names: { kind: Shop, plural: shops }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { text: { type: string }, replicas: { type: integer } } }
              status: { type: object, properties: { ready: { type: integer }, clusters: { type: array, items: { type: string } } } }
  reads:
    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { shop: "true" } } }
  children:
    - id: web
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: all }
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: \${ spec.replicas }
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" } }
            spec: { containers: [{ name: web, image: nginx }] }
    - id: settings
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: all }
      after: [web]
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { text: "\${ spec.text }" } }
  status:
    ready: \${ $sum(children.web.(status.readyReplicas ?? 0)) ?? 0 }
    clusters: \${ [$sort(children.web.$clusterOf($))] }
`;

/** A hub and its members. */
class Federation {
  readonly hub = new Simulation({
    definitions: [{ file: 'shop.yaml', text: definition }],
    logger: silentLogger,
  });
  readonly #clusters = new TestClusters(this.hub);

  async start(): Promise<void> {
    for (const name of ['berlin', 'paris'])
      await this.#clusters.apply({
        apiVersion: 'homeostat.dev/v1alpha1',
        kind: 'Cluster',
        metadata: { name, labels: { shop: 'true' } },
      });
    await this.hub.start();
    assert.equal(await this.hub.untilStarted(), undefined);
  }

  async hubUid(): Promise<string | undefined> {
    const found = await this.hub.get('/api/v1/namespaces/kube-system');
    return (found as KubeObject).metadata.uid;
  }

  async find(name: string, path: string): Promise<KubeObject | undefined> {
    return (await this.hub.members.get(name).api.get(path)) as KubeObject | undefined;
  }
}

const shops = '/apis/shops.example.com/v1/namespaces/default/shops';
const settings = '/api/v1/namespaces/default/configmaps/a';
const web = '/apis/apps/v1/namespaces/default/deployments/a';

const shop = (text: string) => ({
  apiVersion: 'shops.example.com/v1',
  kind: 'Shop',
  metadata: { name: 'a', namespace: 'default' },
  spec: { text, replicas: 2 },
});

describe('simulation: objects in member clusters', () => {
  const federation = new Federation();
  const { hub } = federation;
  after(() => hub.close());
  const statusOf = async () =>
    ((await hub.get(`${shops}/a`)) as { readonly status: JsonObject }).status;
  const ready = async () => {
    const { conditions } = await statusOf();
    const found = (conditions as readonly JsonObject[]).find(({ type }) => type === 'Ready');
    return `${found?.status} ${found?.reason}`;
  };
  const patch = (spec: JsonObject) =>
    hub.request({
      method: 'PATCH',
      path: `${shops}/a`,
      query: { fieldManager: 'kubectl' },
      contentType: 'application/merge-patch+json',
      body: { spec },
    });

  test('a resource has its objects in both members, in the order of "after"', async () => {
    await federation.start();
    await hub.request({ method: 'POST', path: shops, body: shop('one') });
    await hub.advance(20_000);
    for (const name of ['berlin', 'paris']) {
      const found = await federation.find(name, settings);
      assert.deepEqual(found?.data, { text: 'one' });
      assert.equal(found?.metadata.labels?.['homeostat.dev/hub'], await federation.hubUid());
    }
    assert.equal(await ready(), 'True AllReady');
    const { ready: pods, clusters: names } = await statusOf();
    assert.deepEqual([pods, names], [4, ['berlin', 'paris']]);
  });

  test('a member without a connection keeps what it has, and catches up', async () => {
    hub.members.setReachable('paris', false);
    await patch({ text: 'two' });
    await hub.advance(20_000);
    assert.deepEqual((await federation.find('berlin', settings))?.data, { text: 'two' });
    assert.deepEqual((await federation.find('paris', settings))?.data, { text: 'one' });
    assert.equal(await ready(), 'False ClusterUnreachable');
    assert.equal((await statusOf()).ready, 4);
    hub.members.setReachable('paris', true);
    await hub.advance(120_000);
    assert.deepEqual((await federation.find('paris', settings))?.data, { text: 'two' });
    assert.equal(await ready(), 'True AllReady');
  });

  test('an object that a user deletes in a member is created again', async () => {
    await hub.members.get('paris').api.request({ method: 'DELETE', path: web });
    await hub.advance(20_000);
    assert.ok(await federation.find('paris', web));
    assert.equal(await ready(), 'True AllReady');
  });

  test('a namespace is not created in a member: the message names both', async () => {
    const path = '/apis/shops.example.com/v1/namespaces/team/shops';
    await hub.request({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
    });
    const body = { ...shop('one'), metadata: { name: 'a', namespace: 'team' } };
    await hub.request({ method: 'POST', path, body });
    await hub.advance(10_000);
    const { status } = (await hub.get(`${path}/a`)) as { readonly status: JsonObject };
    const [condition] = status.conditions as readonly JsonObject[];
    assert.match(
      String(condition?.message),
      /Namespace "team" does not exist in cluster "berlin"; create it, or set "metadata.namespace"/,
    );
    await hub.request({ method: 'DELETE', path: `${path}/a` });
    await hub.advance(10_000);
    assert.equal(await hub.get(`${path}/a`), undefined);
  });

  test('a deleted resource waits for a member, and leaves nothing', async () => {
    hub.members.setReachable('paris', false);
    await hub.request({ method: 'DELETE', path: `${shops}/a` });
    await hub.advance(20_000);
    assert.equal(await federation.find('berlin', web), undefined);
    assert.equal(await ready(), 'False ClusterUnreachable');
    hub.members.setReachable('paris', true);
    await hub.advance(120_000);
    assert.equal(await hub.get(`${shops}/a`), undefined);
    for (const path of [web, settings])
      assert.equal(await federation.find('paris', path), undefined);
  });
});
