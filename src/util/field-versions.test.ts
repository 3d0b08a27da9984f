import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withFieldVersion } from './field-versions.ts';

const old = (version: string) => version === 'a.example.com/v1alpha1';
const to = 'a.example.com/v1';

function entry(manager: string, version: string, fields: object, more: object = {}) {
  return {
    manager,
    operation: 'Update',
    apiVersion: `a.example.com/${version}`,
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...more,
  };
}

describe('util/field-versions', () => {
  test('fields that are nested too deep to be sent belong to no manager afterwards', () => {
    const deep = JSON.parse(`${'{"f:a":'.repeat(9_000)}{}${'}'.repeat(9_000)}`);
    const kept = entry('edit', 'v1alpha1', { 'f:spec': {} });
    const entries = [entry('hostile', 'v1alpha1', deep), entry('hostile', 'v1', deep), kept];
    const renamed = withFieldVersion(entries, old, to, (fields) => fields);
    assert.deepEqual(renamed, [{ ...kept, apiVersion: to }]);
  });

  test('entries of an old version get the new one, with the same fields; others stay', () => {
    const kept = entry('edit', 'v1beta1', { 'f:spec': { 'f:b': {} } });
    const renamed = withFieldVersion(
      [
        entry('maker', 'v1alpha1', { 'f:spec': { 'f:a': {} } }, { time: '2026-01-01T00:00:00Z' }),
        kept,
        entry(
          'runtime',
          'v1alpha1',
          { 'f:status': {} },
          { operation: 'Apply', subresource: 'status' },
        ),
      ],
      old,
      to,
    );
    assert.deepEqual(renamed, [
      entry('maker', 'v1', { 'f:spec': { 'f:a': {} } }, { time: '2026-01-01T00:00:00Z' }),
      kept,
      entry('runtime', 'v1', { 'f:status': {} }, { operation: 'Apply', subresource: 'status' }),
    ]);
  });

  test('a manager with an entry of each version has the fields of both, and the later time', () => {
    const renamed = withFieldVersion(
      [
        entry(
          'edit',
          'v1',
          { 'f:spec': { '.': {}, 'f:a': { 'f:x': {} } } },
          { time: '2026-01-01T00:00:00Z' },
        ),
        entry(
          'edit',
          'v1alpha1',
          { 'f:spec': { 'f:a': { 'f:y': {} }, 'f:b': {} } },
          { time: '2026-02-01T00:00:00Z' },
        ),
        entry('edit', 'v1alpha1', { 'f:status': {} }, { subresource: 'status' }),
      ],
      old,
      to,
    );
    assert.deepEqual(renamed, [
      entry(
        'edit',
        'v1',
        { 'f:spec': { '.': {}, 'f:a': { 'f:x': {}, 'f:y': {} }, 'f:b': {} } },
        { time: '2026-02-01T00:00:00Z' },
      ),
      entry('edit', 'v1', { 'f:status': {} }, { subresource: 'status' }),
    ]);
  });

  for (const [what, entries] of [
    ['without entries', undefined],
    ['whose entries cannot be read', 'x'],
    ['without an old version', [entry('edit', 'v1', { 'f:spec': {} })]],
  ] as const)
    test(`an object ${what} is not changed`, () => {
      assert.equal(withFieldVersion(entries, old, to), undefined);
    });
});
