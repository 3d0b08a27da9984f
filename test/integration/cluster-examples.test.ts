import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parseYamlDocuments } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import {
  InstantKubelet,
  type PlaneClient,
  useControlPlane,
} from '../support/control-plane/index.ts';
import { conditionOf, shippedText, statusOf } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useMembers } from '../support/members.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
const files = readdirSync(new URL('../../operators/clusters/', import.meta.url)).filter((name) =>
  name.endsWith('.yaml'),
);
/** The objects of a sample. */
const sampleOf = (name: string) =>
  parseYamlDocuments(
    shippedText(`clusters/samples/${name}.yaml`),
  ) as unknown as readonly KubeObject[];
/** Those that belong to a resource of Homeostat, of these collections. */
async function ownedIn(client: PlaneClient, collections: readonly string[]) {
  const lists = await Promise.all(
    collections.map((path) => client.list(`${path}?labelSelector=homeostat.dev/owner-uid`)),
  );
  return lists.flat().map(({ kind, metadata: { name } }) => `${kind}/${name}`);
}

const configMaps = '/api/v1/configmaps';
const daemonSets = '/apis/apps/v1/daemonsets';
const deployments = '/apis/apps/v1/deployments';
const inDefault = (collection: string, name: string) =>
  collection.replace(/\/(\w+)$/, `/namespaces/default/$1/${name}`);
const agentPath = '/apis/agents.example.com/v1alpha1/namespaces/default/nodeagents/node-agent';
const sitePath = '/apis/web.example.com/v1alpha1/namespaces/default/spreadwebs/site';
const vgpuPath = '/apis/gpu.example.com/v1beta1/namespaces/default/vgpuinstances/training';
const platformPath = '/apis/platform.example.com/v1/clusters/paris-1';
const capiPath = '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters/lyon';

const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';
const dataOf = (object: KubeObject | undefined) =>
  object?.data as Readonly<Record<string, string>> | undefined;

/** The shipped operators for members, with their samples. `far` becomes a member by a kind of users. */
shared.describe('integration/cluster-examples', () => {
  const members = useMembers(shared, ['east', 'west', 'far'], { controllerManager: true });
  const kubelets: InstantKubelet[] = [];

  before(async () => {
    for (const name of ['east', 'west']) {
      const kubelet = new InstantKubelet(members.client(name));
      kubelet.start({ namespace: 'default' });
      kubelets.push(kubelet);
    }
    launch({
      definitions: Object.fromEntries(files.map((name) => [name, shippedText(`clusters/${name}`)])),
      runtime: 'examples',
      flags: ['--cluster-secrets', 'default,cluster-access'],
    });
    await shared.client().untilList(members.collection, () => true);
    await members.register('east', { labels: { gpu: 'true', agents: 'true', web: 'true' } });
    await members.register('west', { labels: { agents: 'true', web: 'true' } });
    for (const name of ['east', 'west']) await members.untilReason(name, 'Connected');
  });
  after(async () => {
    for (const kubelet of kubelets) await kubelet.stop();
  });

  test('vgpu-instance runs in the member with GPUs only, and leaves nothing there', async () => {
    const [crd, resource] = sampleOf('vgpu-instance');
    assert.ok(crd && resource);
    for (const name of ['east', 'west']) {
      await members.client(name).installCrd(crd);
      await members.client(name).apply(resource);
    }
    const east = members.client('east');
    const done = await east.untilObject(vgpuPath, (object) => statusOf(object).model === 'l40');
    assert.equal(statusOf(done).cluster, 'east');
    assert.deepEqual(dataOf(await east.get(inDefault(configMaps, 'training'))), {
      model: 'l40',
      memory: '16Gi',
      cluster: 'east',
    });
    await shared.client().untilObject(`${members.collection}/east`, (object) => {
      const { definitions = [] } = statusOf(object) as {
        readonly definitions?: readonly { readonly resources: number; readonly ready: number }[];
      };
      return definitions.some(({ resources, ready }) => resources === 1 && ready === 1);
    });
    const inWest = await members.client('west').get(vgpuPath);
    assert.equal(inWest?.status, undefined);
    await east.delete(vgpuPath);
    await east.untilGone(vgpuPath);
    await east.untilGone(inDefault(configMaps, 'training'));
    assert.deepEqual(await ownedIn(members.client('west'), [configMaps]), []);
  });

  test('node-agent is in every member with the label, becomes ready, and leaves nothing', async () => {
    for (const object of sampleOf('node-agent')) await shared.client().apply(object);
    const done = await shared.client().untilObject(agentPath, isReady);
    const { agents } = statusOf(done) as {
      readonly agents?: readonly { readonly cluster: string }[];
    };
    assert.deepEqual(
      agents?.map(({ cluster }) => cluster),
      ['east', 'west'],
    );
    for (const name of ['east', 'west']) {
      const client = members.client(name);
      assert.equal(dataOf(await client.get(inDefault(configMaps, 'node-agent')))?.cluster, name);
      assert.ok(await client.get(inDefault(daemonSets, 'node-agent')));
    }
    assert.deepEqual(await ownedIn(members.client('far'), [configMaps, daemonSets]), []);
    assert.deepEqual(await ownedIn(shared.client(), [configMaps, daemonSets]), []);
    await shared.client().delete(agentPath);
    await shared.client().untilGone(agentPath);
    for (const name of ['east', 'west'])
      assert.deepEqual(await ownedIn(members.client(name), [configMaps, daemonSets]), []);
  });

  test('spread-web spreads its replicas over the members, adds up those that are ready, and leaves nothing', async () => {
    for (const object of sampleOf('spread-web')) await shared.client().apply(object);
    const done = await shared
      .client()
      .untilObject(sitePath, (object) => isReady(object) && statusOf(object).readyReplicas === 5);
    assert.deepEqual(statusOf(done).clusters, [
      { name: 'east', ready: 3 },
      { name: 'west', ready: 2 },
    ]);
    for (const [name, replicas] of [
      ['east', 3],
      ['west', 2],
    ] as const) {
      const web = await members.client(name).get(inDefault(deployments, 'site'));
      assert.deepEqual(web?.spec, { ...(web?.spec as object), replicas });
    }
    assert.deepEqual(await ownedIn(members.client('far'), [deployments]), []);
    await shared.client().delete(sitePath);
    await shared.client().untilGone(sitePath);
    for (const name of ['east', 'west']) {
      assert.deepEqual(await ownedIn(members.client(name), [deployments]), []);
      await members
        .client(name)
        .untilList('/api/v1/namespaces/default/pods', (pods) => pods.length === 0);
    }
  });

  test('platform-clusters makes a member of a kind that contains a kubeconfig, and leaves nothing', async () => {
    const [namespace, crd, resource] = sampleOf('platform-clusters');
    assert.ok(namespace && crd && resource);
    await shared.client().apply(namespace);
    await shared.client().installCrd(crd);
    const kubeConfig = members.plane('far').kubeconfig('operator');
    await shared.client().apply({ ...resource, spec: { connection: { kubeConfig } } });
    const done = await shared
      .client()
      .untilObject(platformPath, (object) => statusOf(object).connected === 'True');
    assert.match(String(statusOf(done).version), /^v1\./);
    const member = await members.untilReason('paris-1', 'Connected');
    assert.equal(member?.metadata.labels?.['members.example.com/tier'], 'prod');
    assert.equal(member?.metadata.labels?.team, undefined, 'users must not choose other labels');
    const secret = '/api/v1/namespaces/cluster-access/secrets/paris-1';
    assert.ok(await shared.client().get(secret));
    await shared.client().delete(platformPath);
    await shared.client().untilGone(platformPath);
    await shared.client().untilGone(secret);
    await shared.client().untilGone(`${members.collection}/paris-1`);
  });

  test('capi-clusters makes a member of a cluster of Cluster API, and leaves nothing', async () => {
    const [crd, secret, resource] = sampleOf('capi-clusters');
    assert.ok(crd && secret && resource);
    await shared.client().installCrd(crd);
    await shared.client().apply(resource);
    const name = 'default-lyon';
    await members.untilReason(name, 'SecretMissing');
    const value = members.plane('far').kubeconfig('operator');
    await shared.client().apply({ ...secret, stringData: { value } });
    const member = await members.untilReason(name, 'Connected');
    assert.equal(member?.metadata.labels?.['members.example.com/tier'], 'test');
    assert.equal(member?.metadata.labels?.owner, undefined, 'users must not choose other labels');
    await shared.client().delete(capiPath);
    await shared.client().untilGone(capiPath);
    await shared.client().untilGone(`${members.collection}/${name}`);
  });
});
