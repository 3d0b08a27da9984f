import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { shadowObject, shadowSpec } from '../../../../test/support/fakes/shadow-definition.ts';
import { manifestOfObject } from './spec-reader.ts';

describe('runtime/definitions/object-manifest', () => {
  test('an object is the text that the user wrote', () => {
    const spec = { vars: { b: 1, a: '${ x }' } };
    const { file, text, origin } = manifestOfObject({ name: 'one', spec });
    assert.equal(file, 'operatordefinition one');
    assert.deepEqual(origin, { source: 'object', ref: 'one' });
    const lines = [
      'apiVersion: homeostat.dev/v1alpha1',
      'kind: OperatorDefinition',
      'metadata:',
      '  name: one',
      'spec:',
      '  vars:',
      '    a: ${ x }',
      '    b: 1',
    ];
    assert.equal(text, `${lines.join('\n')}\n`);
  });

  test('its revision is that of the spec alone', () => {
    const revisionOf = (object: ReturnType<typeof shadowObject>) => {
      const { name } = object.metadata;
      const { text, file } = manifestOfObject({ name, spec: object.spec });
      return definitionParser.parse(text, file).definitions[0]?.definition.revision;
    };
    const spec = shadowSpec('v1');
    const revision = revisionOf(shadowObject(spec));
    assert.ok(revision);
    assert.equal(revisionOf(shadowObject(spec, { labels: { a: 'b' }, generation: 7 })), revision);
    assert.notEqual(revisionOf(shadowObject(shadowSpec('v2'))), revision);
  });

  test('an object that is nested too deep is there, and cannot be read', () => {
    let vars: unknown = 1;
    for (let level = 0; level < 9_000; level++) vars = { a: vars };
    const { text, unreadable } = manifestOfObject({ name: 'deep', spec: { vars } });
    assert.deepEqual([text, unreadable], ['', 'More than 250 nested lists and maps']);
  });
});
