import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchemas, compile, type OperatorPlan } from '#compile';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

/** A ConfigMap for each Secret with the label, from two others. */
function planFor(served: string, child = ''): OperatorPlan {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shadow }
spec:
  ${served}
  reads:
    - { id: one, apiVersion: v1, kind: ConfigMap, name: one }
    - { id: two, apiVersion: v1, kind: ConfigMap, name: two }
  children:
    - id: shadow
      ${child}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-shadow" }
        data: { a: "\${ reads.one.data.a }", b: "\${ reads.two.data.b }" }
`;
  const [located] = definitionParser.parse(text, 'shadow.yaml').definitions;
  assert.ok(located);
  const { plan } = compile(located, bundledSchemas());
  assert.ok(plan);
  return plan;
}

const secrets =
  'for: { apiVersion: v1, kind: Secret, selector: { matchLabels: { shadowed: "yes" } } }';
const metadata = { name: 'a', namespace: 'default', labels: { shadowed: 'yes' } };

function put(harness: OperatorHarness, kind: string, name: string, data: object): void {
  const object = { apiVersion: 'v1', kind, metadata: { ...metadata, name }, data };
  harness.cluster.server.put(object);
}

const map = (harness: OperatorHarness, name: string, data: object) =>
  put(harness, 'ConfigMap', name, data);

async function withSecret(child = ''): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planFor(secrets, child));
  await harness.start();
  put(harness, 'Secret', 'a', {});
  await harness.settle();
  return harness;
}

const eventsOf = (harness: OperatorHarness) =>
  harness.cluster.reported.map(({ type, reason, note, isLasting = false }) => ({
    type,
    reason,
    note,
    isLasting,
  }));

describe('reconcile/report-waiting', () => {
  test('a resource of a kind of `for` has one Normal Event for each thing that it waits for', async () => {
    const harness = await withSecret();
    const [first, ...others] = eventsOf(harness);
    assert.deepEqual(others, []);
    assert.deepEqual(
      { ...first, note: '' },
      { type: 'Normal', reason: 'Waiting', note: '', isLasting: true },
    );
    assert.match(
      first?.note ?? '',
      /ConfigMap "one" does not exist.*ConfigMap "two" does not exist/,
    );
    // It waits for the same.
    await harness.runOne('default/a');
    await harness.settle();
    assert.equal(eventsOf(harness).length, 1);

    map(harness, 'one', {});
    await harness.settle();
    map(harness, 'two', { b: 'b' });
    await harness.settle();
    map(harness, 'one', { a: 'a' });
    await harness.settle();
    const notes = eventsOf(harness).map(({ note }) => note.replace(/^.*Waiting for /, ''));
    assert.deepEqual(notes.slice(1), [
      'reads.two (ConfigMap "two" does not exist)',
      'reads.one.data.a (ConfigMap "one" does not have it)',
    ]);
    assert.ok(harness.get('v1', 'ConfigMap', 'a-shadow'));
  });

  test('a resource that waits for the same again has another Event', async () => {
    const harness = await withSecret();
    map(harness, 'one', { a: 'a' });
    await harness.settle();
    map(harness, 'two', { b: 'b' });
    await harness.settle();
    harness.cluster.reported.length = 0;
    const two = { namespace: 'default', name: 'two' };
    harness.cluster.server.delete(gvkOf('v1', 'ConfigMap'), two);
    await harness.settle();
    assert.deepEqual(
      eventsOf(harness).map(({ isLasting }) => isLasting),
      [false],
    );
  });

  test('after a restart the Event has the same content, so its name exists', async () => {
    const harness = await withSecret();
    await harness.restart(planFor(secrets));
    await harness.settle();
    const [first, second, ...others] = eventsOf(harness);
    assert.deepEqual([second, others], [first, []]);
    assert.equal(first?.isLasting, true);
  });

  test('a failure has the same Event after a restart, too, and another one when it comes back', async () => {
    const harness = await withSecret();
    map(harness, 'one', { a: 'a' });
    map(harness, 'two', { b: 'b' });
    const error = new KubeError('rejected', 'too long', { status: 422 });
    const fault = ({ verb }: { readonly verb: string }) => (verb === 'apply' ? error : undefined);
    harness.cluster.fault = fault;
    await harness.settle();
    await harness.restart(planFor(secrets));
    await harness.settle();
    const failures = () => eventsOf(harness).filter(({ type }) => type === 'Warning');
    const [first, second, ...others] = failures();
    assert.equal(first?.isLasting, true);
    assert.deepEqual([second, others], [first, []]);
    harness.cluster.fault = () => undefined;
    map(harness, 'one', { a: 'b' });
    await harness.settle();
    harness.cluster.fault = fault;
    map(harness, 'one', { a: 'c' });
    await harness.settle();
    assert.deepEqual(
      failures().map(({ isLasting }) => isLasting),
      [true, true, false],
    );
  });

  test('a resource of an own kind has its conditions instead', async () => {
    const crd =
      'crd: { group: example.com, names: { kind: Thing, plural: things }, scope: Namespaced, versions: [{ name: v1, schema: { openAPIV3Schema: { type: object } } }] }';
    const harness = new OperatorHarness(planFor(crd));
    await harness.start();
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { ...metadata } };
    harness.cluster.server.put(thing);
    await harness.settle();
    assert.equal(harness.passes.length > 0, true);
    assert.deepEqual(eventsOf(harness), []);
  });

  test('a deletion that "deleteWhen" holds has one Event with the reason', async () => {
    const harness = new OperatorHarness(
      planFor(secrets, 'deleteWhen: "${ $exists(metadata.labels.done) }"'),
    );
    await harness.start();
    map(harness, 'one', { a: 'a' });
    map(harness, 'two', { b: 'b' });
    put(harness, 'Secret', 'a', {});
    await harness.settle();
    const object = harness.get('v1', 'Secret', 'a');
    assert.ok(object);
    const deletionTimestamp = '2026-01-02T03:04:05Z';
    harness.edit(object, { metadata: { ...object.metadata, deletionTimestamp } });
    await harness.settle();
    await harness.runOne('default/a');
    assert.deepEqual(
      eventsOf(harness).map(({ type, reason, note }) => `${type} ${reason} ${note}`),
      [
        'Normal Terminating Waiting for ConfigMap "a-shadow" (child "shadow") to be deleted: kept until "deleteWhen" is true',
      ],
    );
  });
});
