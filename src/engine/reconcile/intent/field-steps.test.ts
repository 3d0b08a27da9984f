import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { valueAtSteps, withoutField } from '#util/field-path.ts';
import { holdsField, stepsOf, withoutOwned } from './field-steps.ts';

const object = {
  metadata: { labels: { a: 'x', 'a.b/c': 'y' }, finalizers: ['one', 'two'] },
  spec: {
    replicas: 3,
    containers: [
      { name: 'web', image: 'i', ports: [{ containerPort: 80 }] },
      { name: 'a,b]', image: 'j' },
    ],
    args: ['x', 'y'],
  },
};

const rows = [
  ['.spec.replicas', ['spec', 'replicas'], 3],
  ['.metadata.labels.a', ['metadata', 'labels', 'a'], 'x'],
  ['.metadata.labels.a.b/c', ['metadata', 'labels', 'a.b/c'], 'y'],
  ['.metadata.finalizers[="two"]', ['metadata', 'finalizers', { item: 'two' }], 'two'],
  [
    '.spec.containers[name="web"].image',
    ['spec', 'containers', { keys: { name: 'web' } }, 'image'],
    'i',
  ],
  [
    '.spec.containers[name="a,b]"].image',
    ['spec', 'containers', { keys: { name: 'a,b]' } }, 'image'],
    'j',
  ],
  [
    '.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].containerPort',
    [
      'spec',
      'containers',
      { keys: { name: 'web' } },
      'ports',
      { keys: { containerPort: 80, protocol: 'TCP' } },
      'containerPort',
    ],
    80,
  ],
  ['.spec.args[1]', ['spec', 'args', 1], 'y'],
] as const;

describe('reconcile/intent field-steps', () => {
  for (const [text, steps, value] of rows) {
    test(`reads ${text}`, () => {
      const found = stepsOf(text, object);
      assert.deepEqual(found, steps);
      assert.deepEqual(valueAtSteps(object, steps), value);
    });
  }

  for (const text of ['.spec.size', '.spec.containers[name="db"].image', '.spec.args[x', 'spec']) {
    test(`the object has no ${text}`, () => {
      assert.equal(stepsOf(text, object), undefined);
    });
  }

  test('takes a field out and leaves the object as it was', () => {
    const image = stepsOf('.spec.containers[name="web"].image', object) ?? [];
    const without = withoutField(object, image);
    assert.deepEqual(without.spec.containers[0], { name: 'web', ports: [{ containerPort: 80 }] });
    assert.equal(without.metadata, object.metadata);
    assert.equal(object.spec.containers[0]?.image, 'i');
    assert.deepEqual(withoutField(object, ['metadata', 'finalizers', { item: 'one' }]).metadata, {
      ...object.metadata,
      finalizers: ['two'],
    });
    assert.equal(withoutField(object, ['spec', 'size', 'x']).spec.replicas, 3);
  });

  const owned = {
    'f:spec': {
      'f:replicas': {},
      'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:image': {} } },
      'f:args': {},
    },
    'f:metadata': { 'f:finalizers': { 'v:"one"': {} } },
  };
  test('takes a field out of what a manager owns, and what is empty without it', () => {
    const web = { keys: { name: 'web' } };
    const { 'f:spec': spec, ...others } = owned;
    assert.deepEqual(withoutOwned(owned, ['spec', 'replicas']), {
      ...others,
      'f:spec': { 'f:containers': spec['f:containers'], 'f:args': {} },
    });
    assert.deepEqual(withoutOwned(owned, ['spec', 'containers', web, 'image']), {
      ...others,
      'f:spec': { ...spec, 'f:containers': { 'k:{"name":"web"}': { '.': {} } } },
    });
    assert.deepEqual(withoutOwned(owned, ['metadata', 'finalizers', { item: 'one' }]), {
      'f:spec': spec,
    });
    assert.equal(withoutOwned(owned, ['spec', 'size']), owned);
    assert.equal(withoutOwned(owned, ['spec', 'replicas', 'x']), owned);
  });

  for (const [text, holds] of [
    ['.spec.replicas', true],
    ['.spec.containers[name="web"].image', true],
    ['.spec.containers[name="web"].ports', false],
    ['.spec.containers[name="a,b]"].image', false],
    ['.spec.args[1]', true],
    ['.metadata.finalizers[="one"]', true],
    ['.metadata.finalizers[="two"]', false],
  ] as const) {
    test(`a manager ${holds ? 'has' : 'does not have'} ${text}`, () => {
      const steps = stepsOf(text, { ...object });
      assert.ok(steps);
      assert.equal(holdsField(owned, steps), holds);
    });
  }
});
