import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { isEstablished, namesInUse, withAcceptedNames } from './accepted-names.ts';

const now = '2026-01-01T00:00:00Z';
const none = namesInUse([]);

function crd(names: JsonObject, status: JsonObject = {}): JsonObject {
  return { spec: { group: 'demo.io', names }, status };
}

const widget = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };

describe('sandbox/accepted-names', () => {
  test('free names are accepted once; after that the same object is returned', () => {
    const named = withAcceptedNames(crd(widget), none, now);
    assert.deepEqual((named.status as JsonObject).acceptedNames, widget);
    assert.equal(isEstablished(named), true);
    assert.equal(withAcceptedNames(named, none, 'later'), named);
  });

  test('the first CRD keeps a name; a later one is established when it is free', () => {
    const holder = withAcceptedNames(crd(widget), none, now);
    const late = withAcceptedNames(crd(widget), namesInUse([holder]), now);
    assert.equal(isEstablished(late), false);
    assert.equal(withAcceptedNames(late, namesInUse([holder]), 'later'), late);
    // Names that the later CRD was not given do not conflict.
    assert.equal(withAcceptedNames(holder, namesInUse([late]), 'later'), holder);
    assert.equal(isEstablished(withAcceptedNames(late, none, 'later')), true);
  });
});
