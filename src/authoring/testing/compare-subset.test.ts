import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchemas, createSchemaCompiler } from '#compile';
import { gvkOf } from '#util/gvk.ts';
import { compareSubset } from './compare-subset.ts';

const deploymentSchema = bundledSchemas().schemaFor(gvkOf('apps/v1', 'Deployment'));
const deploymentType = deploymentSchema && createSchemaCompiler().compile(deploymentSchema);
const containers = (...items: readonly unknown[]) => ({
  spec: { template: { spec: { containers: items } } },
});

describe('simulation/testing compare subset', () => {
  for (const [what, expected, found, pointers] of [
    ['fields that are not expected may be there', { a: 1 }, { a: 1, b: 2 }, []],
    ['a missing field', { a: { b: 1 } }, { a: {} }, ['/a/b']],
    ['another value', { a: { b: 1 } }, { a: { b: '1' } }, ['/a/b']],
    ['null is a value', { a: null }, { a: null }, []],
    ['a map where a list is expected', { a: [1] }, { a: { b: 1 } }, ['/a']],
    ['a list of scalars is compared as a whole', { a: [1] }, { a: [1, 2] }, ['/a']],
    ['each difference has its place', { a: 1, b: [1, 2] }, { a: 2, b: [1, 3] }, ['/a', '/b/1']],
    [
      'items are found by a usual key where no schema is known',
      { conditions: [{ type: 'Ready', status: 'True' }] },
      { conditions: [{ type: 'Other' }, { type: 'Ready', status: 'False' }] },
      ['/conditions/0/status'],
    ],
    ['an item that is missing', { a: [{ name: 'x' }] }, { a: [{ name: 'y' }] }, ['/a/0']],
  ] as const) {
    test(what, () => {
      const mismatches = compareSubset(expected, found, undefined);
      assert.deepEqual(
        mismatches.map(({ pointer }) => pointer),
        pointers,
      );
    });
  }

  test('items of a list with merge keys are found by these', () => {
    const expected = containers({ name: 'web', image: 'nginx' });
    const found = containers({ name: 'sidecar', image: 'envoy' }, { name: 'web', image: 'nginx' });
    assert.deepEqual(compareSubset(expected, found, deploymentType), []);
    const other = containers({ name: 'web', image: 'httpd' });
    assert.deepEqual(compareSubset(expected, other, deploymentType), [
      {
        pointer: '/spec/template/spec/containers/0/image',
        path: 'spec.template.spec.containers[name=web].image',
        expected: 'nginx',
        found: 'httpd',
      },
    ]);
  });

  test('a field is named as a plan names it', () => {
    const ports = (name: string) => [{ name, containerPort: 80, protocol: 'TCP' }];
    const expected = {
      metadata: { labels: { 'example.com/a': 'x' } },
      ...containers({ name: 'web', args: ['a'], ports: ports('http') }, { name: 'other' }),
    };
    const found = containers({ name: 'web', args: ['b'], ports: ports('web') });
    const mismatches = compareSubset(
      expected,
      { metadata: { labels: {} }, ...found },
      deploymentType,
    );
    assert.deepEqual(
      mismatches.map(({ path }) => path),
      [
        'metadata.labels["example.com/a"]',
        'spec.template.spec.containers[name=web].args[0]',
        'spec.template.spec.containers[name=web].ports[containerPort=80,protocol=TCP].name',
        'spec.template.spec.containers[name=other]',
      ],
    );
  });

  for (const [matcher, matching, others] of [
    [{ $any: true }, [0, '', {}], [undefined, null]],
    [{ $absent: true }, [undefined, null], [0, '']],
    [{ $match: '^a+$' }, ['a', 'aaa'], ['', 'b', undefined]],
    [{ $gt: 3 }, [4], [3, '4', undefined]],
    [{ $gte: 3 }, [3], [2]],
    [{ $lt: 3 }, [2], [3]],
    [{ $lte: 3 }, [3], [4]],
    [{ $length: 2 }, [[1, 2], 'ab', { a: 1, b: 2 }], [[1], 5, undefined]],
  ] as const) {
    test(`matcher ${JSON.stringify(matcher)}`, () => {
      for (const found of matching)
        assert.deepEqual(compareSubset({ a: matcher }, { a: found }, undefined), []);
      for (const found of others)
        assert.equal(compareSubset({ a: matcher }, { a: found }, undefined).length, 1);
    });
  }
});
