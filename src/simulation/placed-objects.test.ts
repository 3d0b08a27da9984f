import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { definitionParser } from '../../test/support/definition-parser.ts';
import { builtinDocuments, patternProblem } from '../compile/index.ts';
import { parseYaml } from '../definition/index.ts';
import { createClusterOn } from '../kube/index.ts';
import type { MemberCluster, MemberClusters } from '../kube/roles.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { silentLogger, silentMetrics } from '../telemetry/index.ts';
import type { Json, JsonObject } from '../util/json.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { SandboxClient } from './sandbox-client.ts';
import { createSeededRandom } from './seeded-random.ts';
import { Simulation } from './simulation.ts';
import { createTestApi, type TestApi } from './testing/test-api.ts';

const clusterCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'clusters.homeostat.dev' },
  spec: {
    group: 'homeostat.dev',
    scope: 'Cluster',
    names: { kind: 'Cluster', plural: 'clusters', singular: 'cluster', listKind: 'ClusterList' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
};

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

interface SandboxMember {
  readonly sandbox: Sandbox;
  readonly api: TestApi;
  readonly uid: string;
  connection: MemberCluster | undefined;
}

/** A hub and its members, all on sandboxes with one clock. */
class Federation {
  readonly hub = new Simulation({ definitions: [], logger: silentLogger });
  readonly #members = new Map<string, SandboxMember>();
  readonly #listeners = new Set<(name: string) => void>();
  readonly #all: MemberClusters = {
    hubUid: 'uid-of-the-hub',
    get: (name) => this.#members.get(name)?.connection,
    onChange: (listener) => {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    },
  };

  async start(): Promise<void> {
    await this.hub.request({ method: 'POST', path: crds, body: clusterCrd });
    for (const name of ['berlin', 'paris']) await this.#addMember(name);
    const { definitions } = definitionParser.parse(definition, 'shop.yaml');
    this.hub.startDefinitions(definitions, this.#all);
    await this.hub.advance(5_000);
  }

  member(name: string): SandboxMember {
    const found = this.#members.get(name);
    assert.ok(found);
    return found;
  }

  async find(name: string, path: string): Promise<KubeObject | undefined> {
    return (await this.member(name).api.get(path)) as KubeObject | undefined;
  }

  /** Ends the connection, or makes a new one, and reports it in the status. */
  async setConnected(name: string, isConnected: boolean): Promise<void> {
    const member = this.member(name);
    const { sandbox, uid } = member;
    member.connection = isConnected ? { name, uid, cluster: this.#clusterOn(sandbox) } : undefined;
    for (const listener of this.#listeners) listener(name);
    const condition = {
      type: 'Connected',
      status: isConnected ? 'True' : 'False',
      reason: isConnected ? 'Connected' : 'Unreachable',
    };
    await this.hub.request({
      method: 'PATCH',
      path: `${clusters}/${name}/status`,
      query: { fieldManager: 'test' },
      contentType: 'application/merge-patch+json',
      body: { status: { uid, conditions: [condition] } },
    });
  }

  async close(): Promise<void> {
    await this.hub.close();
    for (const { sandbox } of this.#members.values()) sandbox.stop();
  }

  async #addMember(name: string): Promise<void> {
    const { kubernetesVersion, ...schemas } = builtinDocuments();
    const sandbox = createSandbox({
      clock: this.hub.clock,
      random: createSeededRandom(name.length),
      schemas,
      kubernetesVersion,
      patternProblem,
      parseYaml: (text) => parseYaml(text) as Json,
      controllers: true,
      runsPods: true,
      onInternalError: (error) => {
        throw error;
      },
    });
    const api = createTestApi(new SandboxClient({ sandbox, userAgent: 'kubectl' }));
    const system = (await api.get('/api/v1/namespaces/kube-system')) as KubeObject;
    const { uid = '' } = system.metadata;
    this.#members.set(name, { sandbox, api, uid, connection: undefined });
    const body = {
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name, labels: { shop: 'true' } },
    };
    await this.hub.request({ method: 'POST', path: clusters, body });
    await this.setConnected(name, true);
  }

  #clusterOn(sandbox: Sandbox) {
    const client = new SandboxClient({ sandbox, userAgent: 'homeostat' });
    const { clock } = this.hub;
    const random = createSeededRandom(1);
    return createClusterOn(client, { clock, random, logger: silentLogger, metrics: silentMetrics });
  }
}

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const clusters = '/apis/homeostat.dev/v1alpha1/clusters';
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
  after(() => federation.close());
  const { hub } = federation;
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
      assert.equal(found?.metadata.labels?.['homeostat.dev/hub'], 'uid-of-the-hub');
    }
    assert.equal(await ready(), 'True AllReady');
    const { ready: pods, clusters: names } = await statusOf();
    assert.deepEqual([pods, names], [4, ['berlin', 'paris']]);
  });

  test('a member without a connection keeps what it has, and catches up', async () => {
    await federation.setConnected('paris', false);
    await patch({ text: 'two' });
    await hub.advance(20_000);
    assert.deepEqual((await federation.find('berlin', settings))?.data, { text: 'two' });
    assert.deepEqual((await federation.find('paris', settings))?.data, { text: 'one' });
    assert.equal(await ready(), 'False ClusterUnreachable');
    assert.equal((await statusOf()).ready, 4);
    await federation.setConnected('paris', true);
    await hub.advance(20_000);
    assert.deepEqual((await federation.find('paris', settings))?.data, { text: 'two' });
    assert.equal(await ready(), 'True AllReady');
  });

  test('an object that a user deletes in a member is created again', async () => {
    await federation.member('paris').api.request({ method: 'DELETE', path: web });
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
    await federation.setConnected('paris', false);
    await hub.request({ method: 'DELETE', path: `${shops}/a` });
    await hub.advance(20_000);
    assert.equal(await federation.find('berlin', web), undefined);
    assert.equal(await ready(), 'False ClusterUnreachable');
    await federation.setConnected('paris', true);
    await hub.advance(20_000);
    assert.equal(await hub.get(`${shops}/a`), undefined);
    for (const path of [web, settings])
      assert.equal(await federation.find('paris', path), undefined);
  });
});
