import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../test/support/fakes/operator-world.ts';
import { locateThing } from '../../test/support/thing-plan.ts';
import { bundledSchemas, compile, type OperatorPlan } from '../compile/index.ts';
import { KubeError } from '../kube/roles.ts';
import { gvkOf } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';

/** A PodSet whose child says what its read has found. */
function planReading(read: string, found: string): OperatorPlan {
  const body = `  reads:
    - { id: found, apiVersion: v1, kind: Secret, ${read} }
  children:
    - id: copy
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: copy }
        data: { found: "\${ ${found} }" }
`;
  const located = locateThing(body);
  const { plan, diagnostics } = compile(located, bundledSchemas());
  assert.deepEqual(diagnostics, []);
  assert.ok(plan);
  // The fake cluster serves PodSets.
  const gvk = gvkOf('apps.example.com/v1', 'PodSet');
  const { definition } = plan;
  return {
    ...plan,
    definition: { ...definition, kind: { ...definition.kind, gvk } } as typeof definition,
  };
}

const all = "$join(reads.found.(metadata.namespace & '/' & metadata.name), ' ') ?? ''";

async function worldOf(read: string, spec: object, found = all) {
  const world = new OperatorWorld(planReading(read, found));
  for (const namespace of ['default', 'team-a', 'team-b', 'other']) {
    const labels = { set: namespace === 'team-a' ? 'x' : 'y' };
    put(world, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
  }
  for (const namespace of ['team-a', 'team-b', 'other']) secret(world, namespace, 's');
  await world.start();
  world.podSet('one', spec);
  await world.settle();
  world.passes.length = 0;
  return world;
}

function put(world: OperatorWorld, object: KubeObject): KubeObject {
  return world.cluster.server.put(object).object;
}

function secret(world: OperatorWorld, namespace: string, name: string, labels = { shared: 'yes' }) {
  return put(world, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels } });
}

function label(world: OperatorWorld, name: string, set: string): void {
  put(world, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { set } } });
}

function found(world: OperatorWorld): unknown {
  return (world.get('v1', 'ConfigMap', 'copy')?.data as { found?: string } | undefined)?.found;
}

const selector = 'selector: { matchLabels: { shared: "yes" } }';
const globs = 'crossNamespace: { namespaces: ["team-*"] }';

describe('reconcile: reads in other namespaces', () => {
  test('a list of namespaces, without a pass for what is in others', async () => {
    const world = await worldOf(`${selector}, namespaces: "\${ spec.from }", ${globs}`, {
      from: ['team-b', 'team-a'],
    });
    assert.equal(found(world), 'team-a/s team-b/s');
    secret(world, 'other', 'more');
    secret(world, 'default', 'more');
    await world.settle();
    assert.deepEqual(world.passes, []);
    secret(world, 'team-b', 'more');
    await world.settle();
    assert.equal(found(world), 'team-a/s team-b/more team-b/s');
  });

  test('a namespace that no glob allows fails the read, and leaves what was made', async () => {
    const world = await worldOf(`${selector}, namespaces: "\${ spec.from }", ${globs}`, {
      from: ['team-a'],
    });
    world.podSet('one', { from: ['team-a', 'other'] });
    await world.settle();
    assert.match(
      world.ready('one'),
      /False RenderFailed: .*reads\.found\.namespaces, found "other"/,
    );
    assert.equal(found(world), 'team-a/s');
  });

  test('a list of one namespace, literal or computed; a missing one is never taken for none', async () => {
    const literal = await worldOf(`${selector}, namespace: team-a, crossNamespace: true`, {});
    assert.equal(found(literal), 'team-a/s');
    const read = `${selector}, namespace: "\${ spec.from }", ${globs}`;
    const world = await worldOf(read, { from: 'team-b' });
    assert.equal(found(world), 'team-b/s');
    world.podSet('one', {});
    await world.settle();
    assert.match(world.ready('one'), /False RenderFailed: .*Missing value "spec\.from"/);
    assert.equal(found(world), 'team-b/s');
  });

  test('all namespaces that a glob allows', async () => {
    const world = await worldOf(`${selector}, namespaces: "*", ${globs}`, {});
    assert.equal(found(world), 'team-a/s team-b/s');
    secret(world, 'other', 'more');
    await world.settle();
    assert.deepEqual(world.passes, []);
    world.remove(secret(world, 'team-a', 's'));
    await world.settle();
    assert.equal(found(world), 'team-b/s');
  });

  test('namespaces by their labels: what comes, goes and is labelled again counts, and nothing else', async () => {
    const world = await worldOf(
      `${selector}, namespaceSelector: { matchLabels: { set: x } }, crossNamespace: true`,
      {},
    );
    assert.equal(found(world), 'team-a/s');
    label(world, 'other', 'x');
    await world.settle();
    assert.equal(found(world), 'other/s team-a/s');
    label(world, 'team-a', 'y');
    await world.settle();
    assert.equal(found(world), 'other/s');
    world.passes.length = 0;
    label(world, 'team-a', 'z');
    secret(world, 'team-a', 'more');
    await world.settle();
    assert.deepEqual(world.passes, []);
  });

  test('while Namespaces cannot be read nothing is taken for empty', async () => {
    const read = `${selector}, namespaceSelector: { matchLabels: { set: x } }, crossNamespace: true`;
    const world = await worldOf(read, {});
    assert.equal(found(world), 'team-a/s');
    const error = new KubeError('forbidden', 'namespaces is forbidden', { status: 403 });
    world.cluster.block('Namespace', error);
    await world.restart(planReading(read, all));
    await world.settle();
    assert.equal(found(world), 'team-a/s');
    assert.match(world.ready('one'), /Forbidden/);
  });

  test('an object of a computed namespace', async () => {
    const read = `name: s, namespace: "\${ spec.from }", ${globs}`;
    const world = await worldOf(read, { from: 'team-a' }, 'reads.found.metadata.namespace');
    assert.equal(found(world), 'team-a');
    world.podSet('one', { from: 'team-b' });
    await world.settle();
    assert.equal(found(world), 'team-b');
    world.podSet('one', { from: 'other' });
    await world.settle();
    assert.match(
      world.ready('one'),
      /Expected a namespace that "crossNamespace" allows at reads\.found\.namespace, found "other"/,
    );
    assert.equal(found(world), 'team-b');
  });

  test("the runtime's own namespace is never read: by name it is reported, in all of them it is left out", async () => {
    const everywhere = 'crossNamespace: { namespaces: ["*"] }';
    const named = await worldOf(`${selector}, namespaces: "\${ spec.from }", ${everywhere}`, {
      from: ['homeostat-system'],
    });
    assert.match(
      named.ready('one'),
      /RenderFailed: .*"homeostat-system" is a namespace of the Homeostat runtime/,
    );
    assert.equal(found(named), undefined);
    const one = await worldOf(
      `name: s, namespace: "\${ spec.from }", ${everywhere}`,
      { from: 'homeostat-system' },
      'reads.found.metadata.namespace',
    );
    assert.match(
      one.ready('one'),
      /RenderFailed: .*"homeostat-system" is a namespace of the Homeostat runtime/,
    );
    const wide = await worldOf(`${selector}, namespaces: "*", crossNamespace: true`, {});
    secret(wide, 'homeostat-system', 'secret');
    secret(wide, 'team-a', 'more');
    await wide.settle();
    assert.equal(found(wide), 'other/s team-a/more team-a/s team-b/s');
  });
});
