import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { isNestedTooDeep } from './text-limits.ts';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { a: value } : [value, 1];
  return value;
}

describe('definition/yaml/nesting', () => {
  for (const [depth, isTooDeep] of [
    [1, false],
    [250, false],
    [251, true],
    [100_000, true],
  ] as const)
    test(`${depth} nested lists and maps are ${isTooDeep ? 'rejected' : 'accepted'}`, () => {
      assert.equal(isNestedTooDeep({ few: {}, many: nested(depth - 1) }), isTooDeep);
    });

  for (const [depth, codes] of [
    [200, []],
    [450, ['yaml-syntax']],
  ] as const)
    test(`a schema with ${depth} levels of lists gives [${codes}]`, () => {
      const schema = `${'{ type: array, items: '.repeat(depth)}{ type: string }${'}'.repeat(depth)}`;
      const text = `
apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: web }
spec:
  crd:
    group: example.com
    names: { kind: Web, plural: webs }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { deep: ${schema} } } } }
  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: config } }
`;
      const { diagnostics } = definitionParser.parse(text, 'a.yaml');
      assert.deepEqual(
        diagnostics.map(({ code }) => code),
        codes,
      );
    });

  test('wide values are not deep', () => {
    assert.equal(isNestedTooDeep(Array.from({ length: 10_000 }, () => ({ a: null }))), false);
  });
});
