import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  customKind,
  shippedText,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { untilStatus } from '../support/scrape.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const podsetPath = (namespace: string) =>
  `/apis/apps.example.com/v1alpha1/namespaces/${namespace}/podsets/web`;
const deploymentPath = (namespace: string) =>
  `/apis/apps/v1/namespaces/${namespace}/deployments/web`;

function foreignDeployment(
  namespace: string,
  labels: Readonly<Record<string, string>> = {},
): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'theirs' } },
      template: {
        metadata: { labels: { app: 'theirs' } },
        spec: { containers: [{ name: 'main', image: 'nginx' }] },
      },
    },
  };
}

async function applyPodSet(namespace: string): Promise<KubeObject> {
  return shared.client().apply({
    apiVersion: 'apps.example.com/v1alpha1',
    kind: 'PodSet',
    metadata: { name: 'web', namespace },
    spec: { size: 1 },
  });
}

async function untilConflict(namespace: string) {
  const resource = await shared
    .client()
    .untilObject(podsetPath(namespace), (object) => conditionOf(object)?.reason === 'Conflict');
  await shared.audit.quiet(1_000);
  return resource;
}

shared.describe('integration/conflict', () => {
  before(async () => {
    await startHomeostat({ 'podset.yaml': shippedText('podset.yaml') });
  });

  test('a Deployment of the same name that is not ours is left alone, and when it is deleted the PodSet continues', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const mark = shared.audit.mark();
    const foreign = await client.apply(foreignDeployment(namespace));
    await applyPodSet(namespace);
    const resource = await untilConflict(namespace);
    assert.equal(conditionOf(resource)?.status, 'False');
    assert.match(conditionOf(resource)?.message ?? '', /Deployment.*web/);
    assert.equal(statusOf(resource).children?.[0]?.state, 'Failed');
    const live = await client.get(deploymentPath(namespace));
    // The Deployment controller writes its status, so versions move; generation and managers tell of us.
    assert.equal(live?.metadata.generation, foreign.metadata.generation);
    assert.doesNotMatch(JSON.stringify(live?.metadata), /homeostat/);
    const touched = shared.audit.entries({ since: mark }).filter(({ resource, verb, status }) => {
      return resource === 'deployments' && verb !== 'get' && status < 400;
    });
    assert.deepEqual(
      touched.filter(({ verb }) => verb !== 'list' && verb !== 'watch'),
      [],
    );

    await client.delete(deploymentPath(namespace));
    const ours = await client.untilObject(
      deploymentPath(namespace),
      (object) => object?.metadata.labels?.['homeostat.dev/definition'] === 'podset',
    );
    assert.notEqual(ours?.metadata.uid, foreign.metadata.uid);
    await client.untilObject(
      podsetPath(namespace),
      (object) => conditionOf(object)?.reason !== 'Conflict',
    );
  });

  test('an object that another user labelled like ours is neither changed nor deleted', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const owner = await applyPodSet(namespace);
    await client.untilObject(deploymentPath(namespace), (object) => object !== undefined);
    const labels = {
      'app.kubernetes.io/managed-by': 'homeostat',
      'homeostat.dev/definition': 'podset',
      'homeostat.dev/child': 'gone',
      'homeostat.dev/owner-uid': owner.metadata.uid ?? '',
    };
    const copy = foreignDeployment(namespace, labels);
    const foreignObject = await client.apply({
      ...copy,
      metadata: { ...copy.metadata, name: 'copy' },
    });
    await client.patch(podsetPath(namespace), { spec: { size: 2 } });
    await client.untilObject(
      podsetPath(namespace),
      (object) => statusOf(object).observedGeneration === 2,
    );
    await shared.audit.quiet(1_000);
    const live = await client.get(`/apis/apps/v1/namespaces/${namespace}/deployments/copy`);
    assert.deepEqual(
      { uid: live?.metadata.uid, generation: live?.metadata.generation },
      { uid: foreignObject.metadata.uid, generation: 1 },
    );
  });

  test('a custom resource definition that is not ours is not touched', async () => {
    const client = shared.client();
    const crd = customKind({ group: 'taken.example.com', kind: 'Thing' });
    await client.installCrd(crd);
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
    const before = await client.get(path);
    const text = shippedText('podset.yaml')
      .replaceAll('apps.example.com', 'taken.example.com')
      .replace(/name: podset$/m, 'name: taken')
      .replace('kind: PodSet', 'kind: Thing')
      .replace('plural: podsets', 'plural: things')
      .replace(/, shortNames: \[.*?\]/, '');
    const homeostat = await startHomeostat({ 'taken.yaml': text });
    const rejected = await homeostat.whenLogged('Definition rejected');
    assert.match(
      String(rejected.reason),
      /things\.taken\.example\.com.*not managed by Homeostat.*adopt/,
    );
    assert.deepEqual(
      (await client.get(path))?.metadata.resourceVersion,
      before?.metadata.resourceVersion,
    );
    await untilStatus(homeostat, '/readyz', 200);
  });

  test('with crdPolicy.adopt a custom resource definition that is there is taken over, and what it stores is worked on', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const crd = customKind({
      group: 'adopted.example.com',
      kind: 'Thing',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    });
    await client.installCrd(crd);
    await client.apply(thing('adopted', namespace, { size: 1 }));
    const body = `  crdPolicy: { adopt: true }
  children:
    - id: box
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { size: "\${ spec.size }" }
`;
    await startHomeostat({ 'adopted.yaml': thingDefinition('adopted', body) });
    await client.untilObject(
      thingPath('adopted', namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
    const labels = (await client.get(path))?.metadata.labels;
    assert.equal(labels?.['homeostat.dev/definition'], 'adopted');
    const child = await client.get(`/api/v1/namespaces/${namespace}/configmaps/one`);
    assert.deepEqual(child?.data, { size: '1' });
  });
});
