import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { builtInType } from '../../../../test/support/builtin-type.ts';
import { differenceDigest, differences } from './compare.ts';
import { fieldsOf } from './difference.ts';

function objectOf(apiVersion: string, kind: string, fields: object): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x' }, ...fields };
}

describe('reconcile/intent/differences', () => {
  const type = builtInType('v1', 'Pod');
  const intent = objectOf('v1', 'Pod', {
    metadata: { name: 'x', finalizers: ['f'] },
    spec: {
      hostname: 'h',
      containers: [{ name: 'a', image: 'i', args: ['x', 'y'] }, { name: 'b' }],
    },
  });
  const live = objectOf('v1', 'Pod', {
    spec: {
      hostname: 'other',
      containers: [{ name: 'b' }, { name: 'a', image: 'j', args: ['x', 'z'] }],
    },
  });

  test('names every field, wants and has', () => {
    const found = differences(intent, live, type);
    assert.deepEqual(fieldsOf(found), [
      'metadata.finalizers',
      'spec.hostname',
      'spec.containers[name="a"].image',
      'spec.containers[name="a"].args[1]',
      'spec.containers[name="b"]',
    ]);
    assert.deepEqual(found[1], { path: ['spec', 'hostname'], want: 'h', have: 'other' });
    assert.deepEqual(found[4], {
      path: ['spec', 'containers', { keys: { name: 'b' } }],
      want: { name: 'b' },
      have: { name: 'b' },
    });
  });

  test('what stands too much inside an atomic value is not wanted', () => {
    const want = objectOf('v1', 'Pod', { spec: { nodeSelector: { a: 'b' } } });
    const have = objectOf('v1', 'Pod', { spec: { nodeSelector: { a: 'b', c: 'd' } } });
    assert.deepEqual(differences(want, have, type), [
      { path: ['spec', 'nodeSelector', 'c'], want: undefined, have: 'd' },
    ]);
  });

  test('a digest differs for different content only', () => {
    const digest = differenceDigest(differences(intent, live, type));
    assert.equal(differenceDigest(differences(intent, structuredClone(live), type)), digest);
    const other = { ...live, spec: { ...(live.spec as object), hostname: 'another' } };
    assert.notEqual(differenceDigest(differences(intent, other, type)), digest);
    assert.notEqual(differenceDigest([]), digest);
  });
});
