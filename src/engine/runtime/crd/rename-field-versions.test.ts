import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definesCrd } from '#definition';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../test/support/fakes/quiet-cluster.ts';
import { removedVersions, renameFieldVersions } from './rename-field-versions.ts';

const schema = 'schema: { openAPIV3Schema: { type: object } }';
const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: mine }
spec:
  crd:
    group: a.example.com
    names: { kind: A, plural: as }
    scope: Namespaced
    versions: [{ name: v2, served: true, storage: true, ${schema} }]
`;
const [located] = definitionParser.parse(text, 'a.yaml').definitions;
assert.ok(located);
const { definition } = located;
assert.ok(definesCrd(definition));

const gvk = gvkOf('a.example.com/v2', 'A');
const live = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'as.a.example.com' },
  spec: {
    group: 'a.example.com',
    names: { kind: 'A', plural: 'as' },
    scope: 'Namespaced',
    versions: [{ name: 'v1' }, { name: 'v2', storage: true }],
  },
} as KubeObject;

function entryIn(version: string) {
  const apiVersion = `a.example.com/${version}`;
  return { manager: 'maker', operation: 'Update', apiVersion, fieldsV1: { 'f:spec': {} } };
}

/** Renames the fields of three resources, of which `a` and `b` have fields in v1. */
async function rename(rejected = '', annotations: Readonly<Record<string, string>> = {}) {
  assert.ok(definesCrd(definition));
  const cluster = new QuietCluster([
    { gvk, plural: 'as', namespaced: true, hasStatus: true, verbs: [] },
  ]);
  const versions = new Map([
    ['a', 'v1'],
    ['b', 'v1'],
    ['c', 'v2'],
  ]);
  for (const name of versions.keys())
    cluster.server.put({
      apiVersion: 'a.example.com/v2',
      kind: 'A',
      metadata: { name, namespace: 'default' },
    });
  const patches: unknown[] = [];
  cluster.editMetadata = async ({ name }, { change, cached }) => {
    assert.equal(cached, undefined, 'the cache has no managedFields');
    const managedFields = [entryIn(versions.get(name) ?? '')];
    const patch = change({ name, managedFields, annotations });
    if (patch === undefined) return undefined;
    if (name === rejected)
      throw new KubeError('rejected', 'spec.size: Required value', { status: 422 });
    patches.push([name, patch]);
    return undefined;
  };
  const context = { definition, cluster, clock: new FakeClock() };
  const removed = removedVersions(live, context);
  assert.deepEqual(removed, ['v1']);
  const running = renameFieldVersions(context, { live, removed }, new AbortController().signal);
  for (let rounds = 0; rounds < 5; rounds++) {
    cluster.deliver();
    await settle();
  }
  return { rejection: await running, patches: patches.sort() };
}

describe('runtime/crd/rename-field-versions', () => {
  test('a resource that the server rejects is named, and the version cannot be removed', async () => {
    const { rejection } = await rename('b');
    assert.deepEqual(rejection, {
      message:
        'Version "v1" cannot be removed: fields in it cannot be renamed in A "default/b": spec.size: Required value',
      diagnostics: [],
    });
  });

  test('what only the removed version needs is removed with its fields, in one write', async () => {
    const preserved = (version: string) =>
      JSON.stringify({ version, at: ['spec', 'a'], in: 1, value: 1 });
    const { patches } = await rename('', {
      'preserved.homeostat.dev/1': preserved('v1'),
      'example.com/own': 'kept',
    });
    const annotations = { 'preserved.homeostat.dev/1': null };
    const managedFields = [entryIn('v2')];
    assert.deepEqual(patches, [
      ['a', { managedFields, annotations }],
      ['b', { managedFields, annotations }],
      ['c', { annotations }],
    ]);
  });

  test('without a rejection, the version can be removed; resources without fields in it are not written', async () => {
    const { rejection, patches } = await rename();
    assert.equal(rejection, undefined);
    const managedFields = [entryIn('v2')];
    assert.deepEqual(patches, [
      ['a', { managedFields }],
      ['b', { managedFields }],
    ]);
  });
});
