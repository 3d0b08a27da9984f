import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchemas, compile, type OperatorPlan } from '#compile';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../test/support/fakes/operator-harness.ts';
import { locateThing } from '../../../test/support/thing-plan.ts';

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

async function harnessOf(read: string, spec: object, found = all) {
  const harness = new OperatorHarness(planReading(read, found));
  for (const namespace of ['default', 'team-a', 'team-b', 'other']) {
    const labels = { set: namespace === 'team-a' ? 'x' : 'y' };
    put(harness, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
  }
  for (const namespace of ['team-a', 'team-b', 'other']) secret(harness, namespace, 's');
  await harness.start();
  harness.podSet('one', spec);
  await harness.settle();
  harness.passes.length = 0;
  return harness;
}

function put(harness: OperatorHarness, object: KubeObject): KubeObject {
  return harness.cluster.server.put(object).object;
}

function secret(
  harness: OperatorHarness,
  namespace: string,
  name: string,
  labels = { shared: 'yes' },
) {
  return put(harness, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels } });
}

function label(harness: OperatorHarness, name: string, set: string): void {
  put(harness, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { set } } });
}

function found(harness: OperatorHarness): unknown {
  return (harness.get('v1', 'ConfigMap', 'copy')?.data as { found?: string } | undefined)?.found;
}

const selector = 'selector: { matchLabels: { shared: "yes" } }';
const globs = 'crossNamespace: { namespaces: ["team-*"] }';

describe('reconcile: reads in other namespaces', () => {
  test('a list of namespaces, without a pass for what is in others', async () => {
    const harness = await harnessOf(`${selector}, namespaces: "\${ spec.from }", ${globs}`, {
      from: ['team-b', 'team-a'],
    });
    assert.equal(found(harness), 'team-a/s team-b/s');
    secret(harness, 'other', 'more');
    secret(harness, 'default', 'more');
    await harness.settle();
    assert.deepEqual(harness.passes, []);
    secret(harness, 'team-b', 'more');
    await harness.settle();
    assert.equal(found(harness), 'team-a/s team-b/more team-b/s');
  });

  test('a namespace that no glob allows fails the read, and leaves what was made', async () => {
    const harness = await harnessOf(`${selector}, namespaces: "\${ spec.from }", ${globs}`, {
      from: ['team-a'],
    });
    harness.podSet('one', { from: ['team-a', 'other'] });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /False RenderFailed: .*reads\.found\.namespaces, found "other"/,
    );
    assert.equal(found(harness), 'team-a/s');
  });

  test('a list of one namespace, literal or computed; a missing one is never taken for none', async () => {
    const literal = await harnessOf(`${selector}, namespace: team-a, crossNamespace: true`, {});
    assert.equal(found(literal), 'team-a/s');
    const read = `${selector}, namespace: "\${ spec.from }", ${globs}`;
    const harness = await harnessOf(read, { from: 'team-b' });
    assert.equal(found(harness), 'team-b/s');
    harness.podSet('one', {});
    await harness.settle();
    assert.match(harness.ready('one'), /False RenderFailed: .*Missing value "spec\.from"/);
    assert.equal(found(harness), 'team-b/s');
  });

  test('all namespaces that a glob allows', async () => {
    const harness = await harnessOf(`${selector}, namespaces: "*", ${globs}`, {});
    assert.equal(found(harness), 'team-a/s team-b/s');
    secret(harness, 'other', 'more');
    await harness.settle();
    assert.deepEqual(harness.passes, []);
    harness.remove(secret(harness, 'team-a', 's'));
    await harness.settle();
    assert.equal(found(harness), 'team-b/s');
  });

  test('namespaces by their labels: what is created, deleted and labelled again counts, and nothing else', async () => {
    const harness = await harnessOf(
      `${selector}, namespaceSelector: { matchLabels: { set: x } }, crossNamespace: true`,
      {},
    );
    assert.equal(found(harness), 'team-a/s');
    label(harness, 'other', 'x');
    await harness.settle();
    assert.equal(found(harness), 'other/s team-a/s');
    label(harness, 'team-a', 'y');
    await harness.settle();
    assert.equal(found(harness), 'other/s');
    harness.passes.length = 0;
    label(harness, 'team-a', 'z');
    secret(harness, 'team-a', 'more');
    await harness.settle();
    assert.deepEqual(harness.passes, []);
  });

  test('while Namespaces cannot be read nothing is taken for empty', async () => {
    const read = `${selector}, namespaceSelector: { matchLabels: { set: x } }, crossNamespace: true`;
    const harness = await harnessOf(read, {});
    assert.equal(found(harness), 'team-a/s');
    const error = new KubeError('forbidden', 'namespaces is forbidden', { status: 403 });
    harness.cluster.block('Namespace', error);
    await harness.restart(planReading(read, all));
    await harness.settle();
    assert.equal(found(harness), 'team-a/s');
    assert.match(harness.ready('one'), /Forbidden/);
  });

  test('an object of a computed namespace', async () => {
    const read = `name: s, namespace: "\${ spec.from }", ${globs}`;
    const harness = await harnessOf(read, { from: 'team-a' }, 'reads.found.metadata.namespace');
    assert.equal(found(harness), 'team-a');
    harness.podSet('one', { from: 'team-b' });
    await harness.settle();
    assert.equal(found(harness), 'team-b');
    harness.podSet('one', { from: 'other' });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /Expected a namespace that "crossNamespace" allows at reads\.found\.namespace, found "other"/,
    );
    assert.equal(found(harness), 'team-b');
  });

  test("the runtime's own namespace is never read: by name it is reported, in all of them it is left out", async () => {
    const everywhere = 'crossNamespace: { namespaces: ["*"] }';
    const named = await harnessOf(`${selector}, namespaces: "\${ spec.from }", ${everywhere}`, {
      from: ['homeostat-system'],
    });
    assert.match(
      named.ready('one'),
      /RenderFailed: .*"homeostat-system" is a namespace of the Homeostat runtime/,
    );
    assert.equal(found(named), undefined);
    const one = await harnessOf(
      `name: s, namespace: "\${ spec.from }", ${everywhere}`,
      { from: 'homeostat-system' },
      'reads.found.metadata.namespace',
    );
    assert.match(
      one.ready('one'),
      /RenderFailed: .*"homeostat-system" is a namespace of the Homeostat runtime/,
    );
    const wide = await harnessOf(`${selector}, namespaces: "*", crossNamespace: true`, {});
    secret(wide, 'homeostat-system', 'secret');
    secret(wide, 'team-a', 'more');
    await wide.settle();
    assert.equal(found(wide), 'other/s team-a/more team-a/s team-b/s');
  });
});
