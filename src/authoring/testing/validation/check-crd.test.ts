import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { checkCrd } from './check-crd.ts';
import { CheckServer } from './check-server.ts';

/** A definition whose `spec` has a field with this schema. */
function definition(schema: string): string {
  return `apiVersion: homeostat.dev/v1alpha1
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
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { size: ${schema} } }
`;
}

describe('simulation/check-crd', () => {
  const server = new CheckServer();
  after(() => server.close());

  for (const [what, schema, expected] of [
    ['a valid schema', '{ type: integer, x-kubernetes-validations: [{ rule: "self > 1" }] }', []],
    [
      'a pattern',
      '{ type: string, pattern: "[" }',
      [
        "15:82: The API server rejects this: must be a valid regular expression, but isn't: error parsing regexp: missing closing ]: `[`",
      ],
    ],
    [
      'CEL that does not parse',
      '{ type: integer, x-kubernetes-validations: [{ rule: "self >" }] }',
      [
        '15:110: The API server cannot compile this CEL expression: Syntax error: Unexpected token: EOF',
      ],
    ],
    [
      'CEL with an unknown field, at its place in the rule',
      '{ type: object, properties: { a: { type: string } }, x-kubernetes-validations: [{ rule: "has(self.a) && self.b == 1" }] }',
      ["15:165: The API server cannot compile this CEL expression: undefined field 'b'"],
    ],
  ] as const) {
    test(`${what} is ${expected.length === 0 ? 'accepted' : 'rejected with its line'}`, () => {
      const [located] = definitionParser.parse(definition(schema), 'web.yaml').definitions;
      assert.ok(located);
      const found = checkCrd(located, server);
      assert.deepEqual(
        found.map(({ line, column, message }) => `${line}:${column}: ${message}`),
        expected,
      );
    });
  }

  test('a definition of an existing kind has no CRD', () => {
    const text = definition('{ type: string }').replace(
      / {2}crd:[\s\S]*/,
      '  for: { apiVersion: v1, kind: Secret }\n  children: []\n',
    );
    const [located] = definitionParser.parse(text, 'web.yaml').definitions;
    assert.ok(located);
    assert.deepEqual(checkCrd(located, server), []);
  });
});
