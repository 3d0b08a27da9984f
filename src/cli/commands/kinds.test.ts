import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import type { ApiClient } from '../../kube/index.ts';
import { apiVersionOf, gvkKey } from '../../util/gvk.ts';
import { CliError } from '../exit-code.ts';
import { loadKinds } from './kinds.ts';

const sandbox = createTestSandbox();
/** A client of a sandbox in this process. */
const api: ApiClient = {
  async request({ method, path, accept }) {
    const headers = accept === undefined ? {} : { accept };
    const { status, body } = sandbox.handle({ method, path, headers, body: '' });
    return { status, body: JSON.parse(String(body)) };
  },
  stream: () => Promise.reject(new Error('Expected no stream')),
};
const kinds = await loadKinds(api, AbortSignal.any([]));

describe('cli/commands/kinds', () => {
  for (const [text, found] of [
    ['pods', ['v1/Pod']],
    ['po', ['v1/Pod']],
    ['pod', ['v1/Pod']],
    ['Pod', ['v1/Pod']],
    ['deployments.apps', ['apps/v1/Deployment']],
    ['deploy,cm,deploy', ['apps/v1/Deployment', 'v1/ConfigMap']],
  ] as const) {
    test(`"${text}" is ${found.join(' and ')}`, () => {
      assert.deepEqual(
        kinds.named(text).map(({ gvk }) => gvkKey(gvk)),
        found,
      );
    });
  }

  test('a category is all its kinds', () => {
    const all = kinds.named('all').map(({ gvk }) => gvk.kind);
    for (const kind of ['Pod', 'Deployment', 'ReplicaSet', 'Job']) assert.ok(all.includes(kind));
  });

  test('a kind is known by its manifest, with its scope', () => {
    const namespace = kinds.of('v1', 'Namespace');
    assert.ok(namespace);
    assert.deepEqual([apiVersionOf(namespace.gvk), namespace.namespaced], ['v1', false]);
    assert.equal(kinds.of('v2', 'Namespace'), undefined);
  });

  test('what nobody serves is refused, with the nearest name', () => {
    assert.throws(
      () => kinds.named('deploymentz'),
      (error: unknown) =>
        error instanceof CliError &&
        error.message === 'The server does not serve "deploymentz"' &&
        error.hint === 'Did you mean "deployments"?',
    );
  });

  test('a type and a name in one word get the way to write them', () => {
    assert.throws(
      () => kinds.named('deployment/web'),
      (error: unknown) =>
        error instanceof CliError && error.hint === 'Write the name apart: "deployment web"',
    );
  });
});
