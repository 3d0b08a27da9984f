import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { type Feature, Features } from './feature.ts';

function resource(annotations: Readonly<Record<string, string>> = {}): KubeObject {
  return { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a', annotations } };
}

describe('reconcile/pass features', () => {
  const used: Feature = { isUsed: true };
  const recorded: Feature = { isUsed: false, annotation: 'a.example.com/record' };
  const unused: Feature = { isUsed: false };

  test('a resource asks those that the definition uses, and those of which it has a record', () => {
    const features = new Features([used, recorded, unused]);
    assert.deepEqual(features.of(resource()), [used]);
    assert.deepEqual(features.of(resource({ 'a.example.com/other': '' })), [used]);
    assert.deepEqual(features.of(resource({ 'a.example.com/record': '' })), [used, recorded]);
  });

  test('where nothing is written, only their silent parts work', () => {
    const silent: Feature = { isUsed: true, input: () => ({}) };
    const features = new Features([used, { isUsed: true, silent }]);
    assert.deepEqual(features.silent().all, [silent]);
  });

  test('one is added and removed for all resources', () => {
    const features = new Features([used]);
    const later: Feature = { isUsed: true };
    features.add(later);
    assert.deepEqual(features.of(resource()), [used, later]);
    features.remove(used);
    assert.deepEqual(features.all, [later]);
  });
});
