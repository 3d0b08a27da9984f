import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { yaml11Meaning } from './to-json.ts';

describe('definition/yaml/yaml11-meaning', () => {
  for (const word of [
    'yes',
    'No',
    'ON',
    'off',
    'y',
    'N',
    '012',
    '-0644',
    '0o17',
    '12:30',
    '1:20:30',
    '1_000',
    '0b101',
  ]) {
    test(`${word} is read differently`, () => assert.notEqual(yaml11Meaning(word), undefined));
  }
  for (const word of [
    'true',
    'null',
    '0',
    '10',
    '1.5',
    '8080:80',
    'yess',
    '0x1F',
    '1e3',
    '09:99',
    'v1',
    '~',
  ]) {
    test(`${word} is read the same by all`, () => assert.equal(yaml11Meaning(word), undefined));
  }
});
