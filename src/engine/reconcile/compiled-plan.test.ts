import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchemas, compile, type OperatorPlan } from '#compile';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { OperatorHarness } from '../../../test/support/fakes/operator-harness.ts';

const head = `
apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: podset }
spec:
  crd:
    group: apps.example.com
    names: { kind: PodSet, plural: podsets }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
              status:
                type: object
                x-kubernetes-preserve-unknown-fields: true
                properties: { nodes: { type: array, items: { type: string } } }
`;

function planOf(body: string): OperatorPlan {
  const { definitions, diagnostics } = definitionParser.parse(head + body, 'podset.yaml');
  const [located] = definitions;
  assert.ok(located, JSON.stringify(diagnostics));
  const result = compile(located, bundledSchemas());
  assert.ok(result.plan, JSON.stringify(result.diagnostics));
  return result.plan;
}

async function harnessOf(body: string): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOf(body));
  await harness.start();
  return harness;
}

const podSet = `
  vars:
    labels: { app: podSet, podSet_cr: "\${ metadata.name }" }
  reads:
    - { id: pods, apiVersion: v1, kind: Pod, selector: { matchLabels: "\${ vars.labels }" } }
  children:
    - id: deployment
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: \${ spec.size }
          selector: { matchLabels: "\${ vars.labels }" }
          template:
            metadata: { labels: "\${ vars.labels }" }
            spec:
              containers:
                - { name: podset, image: busybox, command: [sleep, "3600"] }
  status:
    nodes: \${ $sort(reads.pods.metadata.name) }
    readyReplicas: \${ children.deployment.status.readyReplicas ?? 0 }
`;

const chain = `
  children:
    - id: service
      template:
        apiVersion: v1
        kind: Service
        metadata: { name: "\${ children.web.metadata.name }" }
        spec: { ports: [{ port: 80 }] }
    - id: web
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: web }
        data: { uid: "\${ children.config.metadata.uid }" }
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: config } }
`;

const loop = `
  children:
    - id: maps
      forEach: \${ spec.list }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "map-\${ $item }" } }
`;

describe('reconcile with a compiled plan', () => {
  test('a PodSet costs two requests, follows its Pods, and costs nothing when nothing changes and after a restart', async () => {
    const harness = await harnessOf(podSet);
    harness.podSet('a', { size: 3 });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a', 'status PodSet/a']);
    assert.equal(harness.passes.length, 1);
    assert.deepEqual(harness.status('a').nodes, []);
    const labels = { app: 'podSet', podSet_cr: 'a' };
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a-1', namespace: 'default', labels },
    });
    await harness.settle();
    assert.deepEqual(harness.status('a').nodes, ['a-1']);
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
    await harness.restart(planOf(podSet));
    await harness.settle();
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('a chain written backwards is made in one pass', async () => {
    const harness = await harnessOf(chain);
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), [
      'apply ConfigMap/config',
      'apply ConfigMap/web',
      'apply Service/web',
      'status PodSet/a',
    ]);
    assert.equal(harness.passes.length, 1);
  });

  test('a list from three to one deletes two, and a missing path none', async () => {
    const harness = await harnessOf(loop);
    const resource = harness.podSet('a', { list: ['x', 'y', 'z'] });
    await harness.settle();
    harness.edit(resource, { spec: { list: ['y'] } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['map-y']);
    harness.edit(resource, { spec: {} });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['map-y']);
    assert.match(harness.ready('a'), /^False RenderFailed: maps: .*spec\.list/);
  });

  test('a status that a template reads converges', async () => {
    const harness = await harnessOf(`
  children:
    - id: mirror
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: mirror }
        data: { phase: "\${ status.phase ?? 'none' }" }
  status:
    phase: Running
`);
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'mirror')?.data, { phase: 'Running' });
    assert.equal(harness.passes.length, 2);
  });
});
