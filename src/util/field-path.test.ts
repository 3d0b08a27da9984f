import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  fieldName,
  parseFieldPath,
  valueAtSteps,
  withFieldAt,
  withoutField,
} from './field-path.ts';

describe('util/field-path', () => {
  for (const [text, steps] of [
    ['spec', ['spec']],
    ['spec.replicas', ['spec', 'replicas']],
    ['metadata.annotations["example.com/a.b"]', ['metadata', 'annotations', 'example.com/a.b']],
    ['metadata.labels.app-name', ['metadata', 'labels', 'app-name']],
    ['spec.containers[name=web].image', ['spec', 'containers', { keys: { name: 'web' } }, 'image']],
    ['spec.containers[name="a]b"]', ['spec', 'containers', { keys: { name: 'a]b' } }]],
    [
      'spec.ports[port=80,protocol=TCP].nodePort',
      ['spec', 'ports', { keys: { port: 80, protocol: 'TCP' } }, 'nodePort'],
    ],
    ['spec.rows[id="80",on=true]', ['spec', 'rows', { keys: { id: '80', on: true } }]],
  ] as const) {
    test(`reads ${text}`, () => {
      assert.deepEqual(parseFieldPath(text), steps);
      assert.deepEqual(parseFieldPath(fieldName(steps)), steps);
    });
  }

  for (const text of [
    '',
    '.',
    'spec.',
    '.spec',
    'spec..a',
    'a b',
    'a[0]',
    'a[]',
    'a[b=]',
    'a[b=c',
    'a["b]',
    'a=b',
    'a[b=c,]d',
  ])
    test(`${JSON.stringify(text)} is no path`, () => assert.equal(parseFieldPath(text), undefined));

  test('an object that has no such field stays the same', () => {
    const object = { spec: { list: [{ name: 'a' }] } };
    assert.equal(withoutField(object, ['spec', 'size']), object);
    assert.equal(withoutField(object, ['spec', 'list', { keys: { name: 'a' } }, 'n']), object);
    assert.equal(withoutField(object, ['spec', 'list', { keys: { name: 'b' } }]), object);
  });

  test('sets a value and leaves the object as it was', () => {
    const object = { spec: { size: 1, list: [{ name: 'a', n: 1 }, { name: 'b' }] } };
    const item = ['spec', 'list', { keys: { name: 'b' } }, 'n'];
    assert.deepEqual(withFieldAt(object, item, 2), {
      spec: {
        size: 1,
        list: [
          { name: 'a', n: 1 },
          { name: 'b', n: 2 },
        ],
      },
    });
    assert.equal(valueAtSteps(object, item), undefined);
    assert.deepEqual(withFieldAt({}, ['metadata', 'labels', 'a'], 'x'), {
      metadata: { labels: { a: 'x' } },
    });
    const missing = ['spec', 'list', { keys: { name: 'c' } }, 'n'];
    assert.deepEqual(withFieldAt(object, missing, 2), object);
  });
});
