import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conversionYaml } from './conversion-yaml.ts';

describe('definition/yaml/conversion-yaml', () => {
  test('texts are read as kubectl reads them, and printed so that they are read again', () => {
    assert.deepEqual(conversionYaml.parse('a: yes\nb: 010\nc: ${x\n'), {
      a: true,
      b: 8,
      c: '${x',
    });
    const value = { a: 'yes', b: '010', c: [1, { d: null }] };
    assert.deepEqual(conversionYaml.parse(conversionYaml.print(value)), value);
  });
});
