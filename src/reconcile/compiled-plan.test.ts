import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../test/support/definition-parser.ts';
import { OperatorWorld } from '../../test/support/fakes/operator-world.ts';
import { bundledSchemas, compile, type OperatorPlan } from '../compile/index.ts';

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

async function worldOf(body: string): Promise<OperatorWorld> {
  const world = new OperatorWorld(planOf(body));
  await world.start();
  return world;
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
    const world = await worldOf(podSet);
    world.podSet('a', { size: 3 });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a', 'status PodSet/a']);
    assert.equal(world.passes.length, 1);
    assert.deepEqual(world.status('a').nodes, []);
    const labels = { app: 'podSet', podSet_cr: 'a' };
    world.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a-1', namespace: 'default', labels },
    });
    await world.settle();
    assert.deepEqual(world.status('a').nodes, ['a-1']);
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
    await world.restart(planOf(podSet));
    await world.settle();
    assert.deepEqual(world.cluster.requests, []);
  });

  test('a chain written backwards is made in one pass', async () => {
    const world = await worldOf(chain);
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply ConfigMap/config',
      'apply ConfigMap/web',
      'apply Service/web',
      'status PodSet/a',
    ]);
    assert.equal(world.passes.length, 1);
  });

  test('a list from three to one deletes two, and a missing path none', async () => {
    const world = await worldOf(loop);
    const resource = world.podSet('a', { list: ['x', 'y', 'z'] });
    await world.settle();
    world.edit(resource, { spec: { list: ['y'] } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['map-y']);
    world.edit(resource, { spec: {} });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['map-y']);
    assert.match(world.ready('a'), /^False RenderFailed: maps: .*spec\.list/);
  });

  test('a status that a template reads converges', async () => {
    const world = await worldOf(`
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
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'mirror')?.data, { phase: 'Running' });
    assert.equal(world.passes.length, 2);
  });
});
