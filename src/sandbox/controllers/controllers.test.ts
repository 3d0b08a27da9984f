import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import type { Sandbox } from '../index.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

function call(sandbox: Sandbox, method: string, path: string, body?: unknown) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const text = body === undefined ? '' : JSON.stringify(body);
  const answer = sandbox.handle({ method, path, headers: { 'content-type': type }, body: text });
  return { status: answer.status, body: JSON.parse(String(answer.body)) as JsonObject };
}

interface Owner {
  readonly name: string;
  readonly uid: string;
  readonly blocks?: boolean;
}

/** Creates a ConfigMap and returns the owner reference for its dependents. */
function make(sandbox: Sandbox, name: string, owners: readonly Owner[] = [], more = {}): Owner {
  const ownerReferences = owners.map(({ name: owner, uid, blocks = false }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: owner,
    uid,
    blockOwnerDeletion: blocks,
  }));
  const metadata = { name, ownerReferences, ...more };
  const { status, body } = call(sandbox, 'POST', configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return { name, uid: String((body.metadata as JsonObject).uid) };
}

function names(sandbox: Sandbox): readonly string[] {
  const { body } = call(sandbox, 'GET', configMaps);
  return (body.items as readonly { metadata: { name: string } }[])
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt');
}

function remove(sandbox: Sandbox, name: string, propagationPolicy: string): void {
  assert.equal(call(sandbox, 'DELETE', `${configMaps}/${name}`, { propagationPolicy }).status, 200);
}

describe('sandbox/controllers/garbage-collector', () => {
  test('dependents are deleted with their owner, recursively', () => {
    const sandbox = createTestSandbox();
    const owner = make(sandbox, 'owner');
    make(sandbox, 'grandchild', [make(sandbox, 'child', [owner])]);
    remove(sandbox, 'owner', 'Background');
    assert.deepEqual(names(sandbox), []);
  });

  test('with several owners, the object is deleted with the last one', () => {
    const sandbox = createTestSandbox();
    const [one, two] = [make(sandbox, 'one'), make(sandbox, 'two')];
    make(sandbox, 'child', [one, two]);
    remove(sandbox, 'one', 'Background');
    const { metadata } = call(sandbox, 'GET', `${configMaps}/child`).body;
    const owners = (metadata as JsonObject).ownerReferences as readonly JsonObject[];
    assert.deepEqual(
      owners.map(({ name }) => name),
      ['two'],
    );
    remove(sandbox, 'two', 'Background');
    assert.deepEqual(names(sandbox), []);
  });

  test('orphans are kept, without the owner reference', () => {
    const sandbox = createTestSandbox();
    make(sandbox, 'child', [make(sandbox, 'owner')]);
    remove(sandbox, 'owner', 'Orphan');
    const { metadata } = call(sandbox, 'GET', `${configMaps}/child`).body;
    assert.equal((metadata as JsonObject).ownerReferences, undefined);
    assert.deepEqual(names(sandbox), ['child']);
  });

  test('foreground deletion waits for blocking dependents', () => {
    const sandbox = createTestSandbox();
    const owner = { ...make(sandbox, 'owner'), blocks: true };
    make(sandbox, 'child', [owner], { finalizers: ['demo.io/hold'] });
    remove(sandbox, 'owner', 'Foreground');
    assert.deepEqual(names(sandbox), ['child', 'owner']);
    call(sandbox, 'PATCH', `${configMaps}/child`, { metadata: { finalizers: null } });
    assert.deepEqual(names(sandbox), []);
  });

  test('an object whose owner does not exist is deleted', () => {
    const sandbox = createTestSandbox();
    make(sandbox, 'child', [{ name: 'none', uid: '11111111-1111-4111-8111-111111111111' }]);
    assert.deepEqual(names(sandbox), []);
  });

  test('an object whose owner has an unserved kind is kept', () => {
    const sandbox = createTestSandbox();
    const reference = { apiVersion: 'x.io/v1', kind: 'X', name: 'x', uid: 'u' };
    make(sandbox, 'child', [], { ownerReferences: [reference] });
    assert.deepEqual(names(sandbox), ['child']);
  });
});

describe('sandbox/controllers/namespace-controller', () => {
  test('every namespace has a ServiceAccount and a CA ConfigMap, which are recreated when deleted', () => {
    const sandbox = createTestSandbox();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } };
    call(sandbox, 'POST', '/api/v1/namespaces', namespace);
    for (const path of ['configmaps/kube-root-ca.crt', 'serviceaccounts/default']) {
      assert.equal(call(sandbox, 'GET', `/api/v1/namespaces/n/${path}`).status, 200);
      call(sandbox, 'DELETE', `/api/v1/namespaces/n/${path}`);
      assert.equal(call(sandbox, 'GET', `/api/v1/namespaces/n/${path}`).status, 200);
    }
    call(sandbox, 'DELETE', '/api/v1/namespaces/n');
    assert.equal(call(sandbox, 'GET', '/api/v1/namespaces/n').status, 404);
  });

  test('a namespace is deleted with its content, after finalizers are removed', () => {
    const sandbox = createTestSandbox();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } };
    call(sandbox, 'POST', '/api/v1/namespaces', namespace);
    const content = '/api/v1/namespaces/n/configmaps';
    const manifest = (name: string, finalizers: readonly string[]) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, finalizers },
    });
    call(sandbox, 'POST', content, manifest('free', []));
    call(sandbox, 'POST', content, manifest('held', ['demo.io/hold']));
    const { body } = call(sandbox, 'DELETE', '/api/v1/namespaces/n');
    assert.equal((body.status as JsonObject).phase, 'Terminating');
    assert.equal(call(sandbox, 'GET', `${content}/free`).status, 404);
    assert.equal(call(sandbox, 'POST', content, manifest('late', [])).status, 403);
    call(sandbox, 'PATCH', `${content}/held`, { metadata: { finalizers: null } });
    assert.equal(call(sandbox, 'GET', '/api/v1/namespaces/n').status, 404);
  });
});
