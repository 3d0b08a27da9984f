import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { isLabelValue } from '#util/label-selector.ts';
import { runtimeName, toLabelValue } from './runtime-name.ts';

const inPod = { namespace: 'operators', leaseName: 'homeostat', ownsNamespace: true };
const outside = { ...inPod, ownsNamespace: false };

describe('cli/runtime-name', () => {
  test('the name that a user gives is the name', () => {
    assert.equal(runtimeName({ ...inPod, runtime: 'east' }), 'east');
    assert.equal(runtimeName({ ...outside, runtime: 'east', definitions: ['a'] }), 'east');
  });

  test('in a Pod all replicas have one name: that of the namespace and of the Lease', () => {
    assert.equal(runtimeName(inPod), 'operators.homeostat');
    assert.equal(runtimeName({ ...inPod, definitions: ['/operators'] }), 'operators.homeostat');
    assert.equal(runtimeName({ ...inPod, leaseName: 'second' }), 'operators.second');
  });

  test('outside it depends on what is read, not on the order or on how it is written', () => {
    const one = runtimeName({ ...outside, definitions: ['a', 'b'] });
    assert.equal(runtimeName({ ...outside, definitions: ['./b', 'a'] }), one);
    assert.notEqual(runtimeName({ ...outside, definitions: ['a'] }), one);
    assert.notEqual(
      runtimeName({ ...outside, definitionsNamespace: 'other' }),
      runtimeName(outside),
    );
  });

  test('outside two that read the ConfigMaps of different namespaces have different names', () => {
    const other = { ...outside, namespace: 'other' };
    assert.notEqual(runtimeName(other), runtimeName(outside));
    assert.equal(runtimeName({ ...outside, definitionsNamespace: 'other' }), runtimeName(other));
  });

  test('it is a label value, whatever the names are', () => {
    for (const name of ['', 'x'.repeat(64), 'with space', '-dash', 'ünicode']) {
      assert.ok(isLabelValue(toLabelValue(name)), name);
      assert.equal(toLabelValue(name), toLabelValue(name));
    }
    assert.notEqual(toLabelValue('x'.repeat(64)), toLabelValue('x'.repeat(65)));
    const long = { ...inPod, namespace: 'n'.repeat(63), leaseName: 'l'.repeat(63) };
    assert.ok(isLabelValue(runtimeName(long)));
    assert.ok(isLabelValue(runtimeName(outside)), hostname());
  });
});
