import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { evaluate } from '../../../../../test/support/compile/test-scope.ts';
import { elementsWith, knownMergeKey } from './merge-keys.ts';

async function merge(base: unknown, override: unknown, keys?: unknown): Promise<unknown> {
  const source = keys === undefined ? 'spec.a, spec.b' : 'spec.a, spec.b, spec.k';
  return evaluate(`$deepMerge(${source})`, { spec: { a: base, b: override, k: keys } });
}

describe('compile/language/functions deep merge', () => {
  for (const [what, base, override, expected] of [
    [
      'maps at all levels',
      { a: { b: 1, c: 2 } },
      { a: { c: 3 }, d: 4 },
      { a: { b: 1, c: 3 }, d: 4 },
    ],
    ['null removes a field', { a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
    ['null in a new map', {}, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['null of the base is kept', { a: null }, { b: 1 }, { a: null, b: 1 }],
    ['a scalar and a map', { a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
    ['other lists are replaced', { args: ['a'] }, { args: ['b'] }, { args: ['b'] }],
    [
      'containers by name',
      { containers: [{ name: 'a', image: 'x', env: [{ name: 'E', value: '1' }] }, { name: 'b' }] },
      { containers: [{ name: 'a', env: [{ name: 'F', value: '2' }] }, { name: 'c' }] },
      {
        containers: [
          {
            name: 'a',
            image: 'x',
            env: [
              { name: 'E', value: '1' },
              { name: 'F', value: '2' },
            ],
          },
          { name: 'b' },
          { name: 'c' },
        ],
      },
    ],
    [
      'ports of containers, also UDP',
      { ports: [{ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' }] },
      { ports: [{ containerPort: 53, name: 'dns', protocol: 'TCP' }] },
      {
        ports: [
          { containerPort: 53, name: 'dns', protocol: 'TCP' },
          { containerPort: 53, protocol: 'UDP' },
        ],
      },
    ],
    [
      'a port for UDP is not the one for TCP',
      { ports: [{ containerPort: 53 }] },
      { ports: [{ containerPort: 53, protocol: 'UDP' }] },
      { ports: [{ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' }] },
    ],
    [
      'ports of Services',
      { ports: [{ port: 80, targetPort: 1 }] },
      { ports: [{ port: 80, name: 'http' }] },
      { ports: [{ port: 80, targetPort: 1, name: 'http' }] },
    ],
    [
      'an element is deleted',
      { volumes: [{ name: 'a' }, { name: 'b' }] },
      {
        volumes: [
          { name: 'a', $patch: 'delete' },
          { name: 'c', $patch: 'delete' },
        ],
      },
      { volumes: [{ name: 'b' }] },
    ],
    ['a list without keys', { env: ['A=1'] }, { env: ['B=1'] }, { env: ['B=1'] }],
    [
      'equal keys in the base',
      {
        env: [
          { name: 'a', value: '1' },
          { name: 'a', value: '2' },
        ],
      },
      { env: [{ name: 'a', value: '3' }] },
      {
        env: [
          { name: 'a', value: '3' },
          { name: 'a', value: '2' },
        ],
      },
    ],
    ['no override', { a: 1 }, undefined, { a: 1 }],
    ['no base', undefined, { a: 1, b: null }, { a: 1 }],
    ['neither', undefined, undefined, undefined],
    ['null for a list', { env: [{ name: 'a' }] }, { env: null }, {}],
  ] as const) {
    test(what, async () => {
      assert.deepEqual(await merge(base, override), expected);
    });
  }

  for (const [keys, isMerged] of [
    [{ rules: 'host' }, true],
    [{ 'spec.rules': 'host' }, true],
    [{ 'other.rules': 'host' }, false],
    [{}, false],
  ] as const) {
    test(`lists with the keys ${JSON.stringify(keys)}`, async () => {
      const base = { spec: { rules: [{ host: 'a', port: 1 }, { host: 'b' }] } };
      const override = { spec: { rules: [{ host: 'a', port: 2 }] } };
      const merged = [{ host: 'a', port: 2 }, ...(isMerged ? [{ host: 'b' }] : [])];
      assert.deepEqual(await merge(base, override, keys), { spec: { rules: merged } });
    });
  }

  for (const [what, base, override, keys] of [
    ['a text', { a: 1 }, 'text', undefined],
    ['a list', [1], {}, undefined],
    ['another directive', {}, { env: [{ name: 'a', $patch: 'replace' }] }, undefined],
    ['keys that are no names', {}, {}, { a: 1 }],
    ['elements without the key', { l: [{ a: 1 }] }, { l: [{ b: 1 }] }, { l: 'a' }],
  ] as const) {
    test(`${what} is an error`, async () => {
      await assert.rejects(async () => merge(base, override, keys), { code: 'evaluation-failed' });
    });
  }

  test('the input is not changed', async () => {
    const base = { env: [{ name: 'a', m: { x: 1 } }] };
    const before = structuredClone(base);
    await merge(base, { env: [{ name: 'a', m: { x: 2, y: 3 } }, { name: 'b' }] });
    assert.deepEqual(base, before);
  });

  test('maps of thousands of levels end with an error', async () => {
    let deep: unknown = {};
    for (let level = 0; level < 5_000; level++) deep = { a: deep };
    await assert.rejects(async () => merge(deep, deep), { code: 'limit-exceeded' });
  });

  test('the merge keys are those of the schemas of Kubernetes', () => {
    const path = new URL('../../schema/builtin-schemas.generated.json', import.meta.url);
    const schemas = JSON.parse(readFileSync(path, 'utf8'));
    let count = 0;
    const visit = (value: unknown, name: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const key = Reflect.get(value, 'x-kubernetes-patch-merge-key');
      if (typeof key === 'string') {
        count += 1;
        const elements = [{ [key]: 'x' }];
        assert.equal(knownMergeKey(name, elements)?.key.field, key, name);
        assert.ok(elementsWith({ field: key }, elements));
      }
      for (const [field, below] of Object.entries(value)) visit(below, field);
    };
    visit(schemas.components, '');
    assert.ok(count > 40);
  });
});
