import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Informer, InformerQuery } from '#kube/roles.ts';
import { encodeBase64 } from '#util/base64.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { NamedValues } from './named-values.ts';

const { signal } = new AbortController();

/** Informers over a function, which are synced at once. */
function setUp(labels: Readonly<Record<string, string>>, runtimeNamespace?: string) {
  const open = new Set<string>();
  const changes: string[] = [];
  const clock = new FakeClock();
  const objectOf = ({ gvk }: InformerQuery, name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: gvk.kind,
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '7',
      ...(gvk.kind === 'Namespace' && { labels }),
    },
    data: { key: gvk.kind === 'Secret' ? encodeBase64(`secret of ${name}`) : `text of ${name}` },
  });
  const acquire = (query: InformerQuery) => {
    const id = `${query.gvk.kind} ${query.fieldSelector}`;
    open.add(id);
    return {
      ...{ query, state: { kind: 'synced' } },
      get: (_: string | undefined, name: string) =>
        name === 'missing'
          ? undefined
          : { object: objectOf(query, name), cluster: undefined, appliedBy: [] },
      subscribe: () => () => undefined,
      onState: () => () => undefined,
      release: () => open.delete(id),
    } as unknown as Informer;
  };
  const values = new NamedValues({
    cluster: { acquire, get: async () => undefined, managedFields: async () => [] },
    ...{ clock, runtimeNamespace },
    onChange: (namespace) => changes.push(namespace),
  });
  const read = (name: string, kind: 'Secret' | 'ConfigMap' = 'Secret', key = 'key') =>
    values.read('shop', { kind, name, key }, signal);
  return { values, read, open, changes, clock };
}

const allowed = { 'homeostat.dev/http': 'true' };

describe('http-objects/controller values', () => {
  test('a Secret and a ConfigMap are read, with a version that says nothing about the value', async () => {
    const { read } = setUp(allowed);
    assert.deepEqual(await read('db'), { value: 'secret of db', version: 'uid-db/7/key' });
    assert.deepEqual(await read('db', 'ConfigMap'), {
      value: 'text of db',
      version: 'uid-db/7/key',
    });
    assert.deepEqual(await read('db', 'Secret', 'other'), {
      reason: 'ValueMissing',
      message: 'Secret "db" in namespace "shop" has no key "other"',
    });
    assert.deepEqual(await read('missing', 'ConfigMap'), {
      reason: 'ValueMissing',
      message: 'ConfigMap "missing" does not exist in namespace "shop"',
    });
  });

  for (const [name, labels, runtimeNamespace] of [
    ['without the label', {}, undefined],
    ['with another value of the label', { 'homeostat.dev/http': 'yes' }, undefined],
    ['of the runtime', allowed, 'shop'],
  ] as const)
    test(`nothing is read or written in a namespace ${name}`, async () => {
      const { values, read, open } = setUp(labels, runtimeNamespace);
      await assert.rejects(values.secret('shop', 'made', signal), { code: 'secret-not-allowed' });
      const found = await read('db');
      assert.equal('reason' in found && found.reason, 'NamespaceNotAllowed');
      const command = 'kubectl label namespace shop homeostat.dev/http=true';
      assert.equal('message' in found && found.message.includes(command), labels !== allowed);
      assert.deepEqual([...open], ['Namespace metadata.name=shop']);
    });

  test('the keys of the runtime are neither read nor written', async () => {
    const { values, read } = setUp(allowed);
    const found = await read('homeostat-history-keys');
    assert.equal('reason' in found && found.reason, 'NotAllowed');
    await assert.rejects(values.secret('shop', 'homeostat-history-keys', signal), {
      code: 'secret-not-allowed',
    });
    assert.equal(await values.secret('shop', 'made', signal), undefined);
  });

  test('names that are no longer in use make room, at most every ten minutes', async () => {
    const { read, open, changes, clock } = setUp(allowed);
    for (let index = 0; index < 50; index += 1) await read(`old-${index}`);
    assert.equal(open.size, 51);
    assert.ok('value' in (await read('new')));
    assert.deepEqual([open.size, changes], [1, ['shop']]);
    for (let index = 0; index < 49; index += 1) await read(`used-${index}`);
    const rejected = await read('one-too-many');
    assert.equal('reason' in rejected && rejected.reason, 'TooManyValues');
    await clock.advance(600_000);
    assert.ok('value' in (await read('one-too-many')));
  });

  test('a namespace without objects is not watched', async () => {
    const { values, read, open } = setUp(allowed);
    await read('db');
    values.forget('shop');
    assert.equal(open.size, 0);
  });
});
