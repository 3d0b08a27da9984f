import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorDefinition } from '#definition';
import { notServed } from './not-served.ts';

const definitions = [
  { name: 'web', kind: { gvk: { group: 'example.com', version: 'v1', kind: 'Web' } } },
] as unknown as readonly OperatorDefinition[];

const resource = (apiVersion: string, kind: string) => ({
  apiVersion,
  kind,
  metadata: { name: 'a' },
});

describe('render/not-served', () => {
  test('names the version that expressions read', () => {
    assert.equal(
      notServed(definitions, resource('example.com/v2', 'Web')),
      'The resource is written in "example.com/v2", but expressions of definition "web" read "example.com/v1": write it in that version',
    );
  });

  test('names the kinds that are served', () => {
    assert.equal(
      notServed(definitions, resource('other.com/v1', 'Web')),
      'No definition serves kind "Web" (other.com/v1), only Web',
    );
  });
});
