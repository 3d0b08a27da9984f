import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../util/json.ts';
import { isEstablished, takenNames, withAcceptedNames } from './accepted-names.ts';

const now = '2026-01-01T00:00:00Z';
const none = takenNames([]);

function crd(names: JsonObject, status: JsonObject = {}): JsonObject {
  return { spec: { group: 'demo.io', names }, status };
}

const widget = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };

describe('sandbox/accepted-names', () => {
  test('names that are free are given once; nothing changes after that, not even the object', () => {
    const named = withAcceptedNames(crd(widget), none, now);
    assert.deepEqual((named.status as JsonObject).acceptedNames, widget);
    assert.equal(isEstablished(named), true);
    assert.equal(withAcceptedNames(named, none, 'later'), named);
  });

  test('who had a name first keeps it; who comes later is established when it is free', () => {
    const holder = withAcceptedNames(crd(widget), none, now);
    const late = withAcceptedNames(crd(widget), takenNames([holder]), now);
    assert.equal(isEstablished(late), false);
    assert.equal(withAcceptedNames(late, takenNames([holder]), 'later'), late);
    // What the late one has not been given is in nobody's way.
    assert.equal(withAcceptedNames(holder, takenNames([late]), 'later'), holder);
    assert.equal(isEstablished(withAcceptedNames(late, none, 'later')), true);
  });
});
