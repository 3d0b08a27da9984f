import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiClient, KindInfo } from '#kube';
import { anySignal } from '#util/any-signal.ts';
import { apiVersionOf, gvkKey } from '#util/gvk.ts';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import { CliError } from '../exit-code.ts';
import { Kinds, loadKinds } from './kinds.ts';
import { targetsOf } from './targets.ts';

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
const kinds = await loadKinds(api, anySignal([]));

/** A kind of somebody's CRD, by the name of the CRD. */
function kindOf(crd: string, ...shortNames: readonly string[]): KindInfo {
  const [plural = '', ...group] = crd.split('.');
  const kind = plural.replace(/s$/, '');
  return {
    gvk: { group: group.join('.'), version: 'v1', kind },
    plural,
    singular: kind,
    namespaced: true,
    hasStatus: true,
    verbs: [],
    shortNames,
    categories: [],
  };
}

describe('cli/commands/kinds', () => {
  for (const [text, found] of [
    ['pods', ['v1/Pod']],
    ['po', ['v1/Pod']],
    ['pod', ['v1/Pod']],
    ['Pod', ['v1/Pod']],
    ['deployments.apps', ['apps/v1/Deployment']],
    ['deployments.v1.apps', ['apps/v1/Deployment']],
    ['events', ['v1/Event']],
    ['events.events.k8s.io', ['events.k8s.io/v1/Event']],
    ['deploy,cm,deploy', ['apps/v1/Deployment', 'v1/ConfigMap']],
  ] as const) {
    test(`"${text}" is ${found.join(' and ')}`, () => {
      assert.deepEqual(
        kinds.resolve(text).map(({ gvk }) => gvkKey(gvk)),
        found,
      );
    });
  }

  test('a category is all its kinds', () => {
    const all = kinds.resolve('all').map(({ gvk }) => gvk.kind);
    for (const kind of ['Pod', 'Deployment', 'ReplicaSet', 'Job']) assert.ok(all.includes(kind));
  });

  test('a kind is known by its manifest, with its scope', () => {
    const namespace = kinds.of('v1', 'Namespace');
    assert.ok(namespace);
    assert.deepEqual([apiVersionOf(namespace.gvk), namespace.namespaced], ['v1', false]);
    assert.equal(kinds.of('v2', 'Namespace'), undefined);
  });

  test('what the server does not serve is rejected, with the nearest name', () => {
    assert.throws(
      () => kinds.resolve('deploymentz'),
      (error: unknown) =>
        error instanceof CliError &&
        error.message === 'The server does not serve "deploymentz"' &&
        error.hint === 'Did you mean "deployments"?',
    );
  });

  describe('kinds of one name', () => {
    const several = new Kinds([
      kindOf('pools.a.example.com', 'po'),
      kindOf('pools.b.example.com'),
      kindOf('pd.c.example.com'),
      kindOf('pods.d.example.com', 'pd', 'tk'),
      kindOf('tanks.e.example.com', 'tk'),
      ...kinds.all,
    ]);
    for (const [text, found] of [
      ['pools.b.example.com', 'b.example.com'],
      ['pd', 'c.example.com'],
      ['po', ''],
      ['pods', ''],
    ] as const) {
      test(`"${text}" is that of ${found === '' ? 'Kubernetes itself' : found}`, () => {
        assert.deepEqual(
          several.resolve(text).map(({ gvk }) => gvk.group),
          [found],
        );
      });
    }

    for (const [text, hint] of [
      ['pools', 'Write which: "pools.a.example.com" or "pools.b.example.com"'],
      ['tk', 'Write which: "pods.d.example.com" or "tanks.e.example.com"'],
    ] as const) {
      test(`"${text}" is rejected, and which there are is reported`, () => {
        assert.throws(
          () => several.resolve(text),
          (error: unknown) =>
            error instanceof CliError &&
            error.message === `Several kinds are called "${text}"` &&
            error.hint === hint,
        );
      });
    }
  });

  describe('a kind in several versions', () => {
    const pools = kindOf('pools.a.example.com', 'pl');
    const older = { ...pools, gvk: { ...pools.gvk, version: 'v1alpha1' } };
    const versions = new Kinds([pools], { others: [older] });
    for (const [text, version] of [
      ['pools', 'v1'],
      ['pools.a.example.com', 'v1'],
      ['pools.v1alpha1.a.example.com', 'v1alpha1'],
      ['pl.v1alpha1.a.example.com', 'v1alpha1'],
    ] as const)
      test(`"${text}" is ${version}`, () => {
        assert.deepEqual(
          versions.resolve(text).map(({ gvk }) => gvk.version),
          [version],
        );
      });

    test('a manifest names its version', () => {
      assert.equal(versions.of('a.example.com/v1alpha1', pools.gvk.kind), older);
      assert.equal(versions.of('a.example.com/v2', pools.gvk.kind), undefined);
    });
  });

  for (const [words, found] of [
    [['deploy', 'web', 'api'], ['Deployment web api']],
    [['deploy,svc'], ['Deployment ', 'Service ']],
    [
      ['deploy/web', 'svc/web', 'deploy/api'],
      ['Deployment web api', 'Service web'],
    ],
  ] as const) {
    test(`"${words.join(' ')}" means ${found.join(' and ')}`, () => {
      const [types, ...names] = words;
      assert.deepEqual(
        targetsOf(kinds, types, names).map((one) => `${one.kind.gvk.kind} ${one.names.join(' ')}`),
        found,
      );
    });
  }

  for (const words of [
    ['deploy/web', 'api'],
    ['deploy', 'svc/web'],
    ['deploy/'],
    ['/web'],
    ['a/b/c'],
  ] as const) {
    test(`"${words.join(' ')}" is rejected with the way to write it`, () => {
      const [types, ...names] = words;
      assert.throws(
        () => targetsOf(kinds, types, names),
        (error: unknown) =>
          error instanceof CliError && /^Either "TYPE NAME/.test(error.hint ?? ''),
      );
    });
  }
});
