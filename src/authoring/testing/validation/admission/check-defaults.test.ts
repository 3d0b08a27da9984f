import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DefinitionValidator } from '../../validate-definitions.ts';

function definition(path: string, value: string, kind = crd): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: web }
spec:
${kind}
  admission:
    defaults:
      - path: ${JSON.stringify(path)}
        value: ${JSON.stringify(value)}
`;
}

const crd = `  crd:
    group: example.com
    names: { kind: Web, plural: webs }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            required: [spec]
            properties:
              spec:
                type: object
                required: [kind]
                properties:
                  kind: { type: string }
                  size: { type: integer }
                  share: { type: number }
                  active: { type: boolean }
                  mode: { type: string, default: fast }
                  any: { x-kubernetes-preserve-unknown-fields: true }
                  port: { x-kubernetes-int-or-string: true }
                  limits: { type: object, properties: { cpu: { type: string } } }
                  ports: { type: array, items: { type: object, properties: { port: { type: integer } } } }
                  options: { type: object, additionalProperties: { type: string } }`;
const pods = '  for: { apiVersion: v1, kind: Pod }';

describe('testing/check-defaults', () => {
  const validator = new DefinitionValidator();
  after(() => validator.close());

  function found(path: string, value: string, kind = crd): readonly string[] {
    return validator
      .validate([{ file: 'web.yaml', text: definition(path, value, kind) }])
      .diagnostics.map(
        ({ line, column, severity, code, message }) =>
          `${line - kind.split('\n').length}:${column} ${severity} ${code} ${message}`,
      );
  }

  for (const [path, value] of [
    ['spec.limits.cpu', "request.?name.orValue('')"],
    ['spec.limits.cpu', "has(request.name) ? request.name : ''"],
    ['spec.limits.cpu', "oldObject == null ? '' : request.name"],
    ['spec.limits.cpu', "object.metadata.?name.orValue('')"],
    ['spec.limits.cpu', "oldObject == null ? 'new' : object.metadata.name"],
    ['spec.size', 'size(object.spec.kind)'],
    ['spec.share', 'size(object.spec.kind)'],
    ['spec.share', 'size(object.spec.kind) > 1 ? 0.5 : 1.5'],
    ['spec.active', "object.spec.kind == 'a'"],
    ['spec.port', 'size(object.spec.kind)'],
    ['spec.any.thing', 'object.spec.kind'],
    ["spec.options['a/b']", 'object.spec.kind'],
    ["metadata.labels['a/b']", "'low'"],
    ['spec.ports', "object.spec.kind == 'a' ? [{'port': 80}] : []"],
    ['spec.limits', "{'cpu': object.spec.kind}"],
    ['spec.limits.cpu', "object.spec.?limits.?cpu.orValue('1')"],
    ['spec.kind', "object.metadata.?name.orValue('').lowerAscii()"],
    ['spec.kind', "namespaceObject.metadata.name + '-a'"],
  ] as const)
    test(`${path} can be ${value}`, () => {
      assert.deepEqual(found(path, value), []);
    });

  for (const [path, value, expected] of [
    [
      'spec.kind',
      'object.metadata.name',
      '8:33 error optional-parent "object.metadata.name" may be missing',
    ],
    [
      'spec.knid',
      'object.spec.kind',
      '7:15 error unknown-path Unknown field "knid" in "spec.knid"',
    ],
    ['spec.kind.name', 'object.spec.kind', '7:15 error unknown-path "spec.kind" has no fields'],
    [
      'spec.ports.port',
      'size(object.spec.kind)',
      '7:15 error invalid-value A default cannot be in a list: "spec.ports" is one',
    ],
    [
      'spec.mode',
      'object.spec.kind',
      '7:15 error invalid-value "spec.mode" has a default in the schema, so this one never applies',
    ],
    [
      'spec.kind',
      "'web'",
      '8:16 error invalid-value The value for "spec.kind" is always the same: it belongs in the schema',
    ],
    [
      'spec.ports',
      "[{'port': 80}]",
      '8:16 error invalid-value The value for "spec.ports" is always the same: it belongs in the schema',
    ],
    [
      'spec.kind',
      'object.spec.limits.cpu',
      '8:29 error optional-parent "object.spec.limits" may be missing',
    ],
    [
      'spec.kind',
      'object.spec.?limits.?cpu',
      '8:16 error wrong-type The value for "spec.kind" is optional',
    ],
    [
      'spec.size',
      'object.spec.kind',
      '8:16 error wrong-type Expected integer for "spec.size", found string',
    ],
    [
      'spec.limits',
      "object.spec.kind + 'a'",
      '8:16 error wrong-type Expected a map for "spec.limits", found string',
    ],
    [
      'spec.ports',
      'size(object.spec.kind)',
      '8:16 error wrong-type Expected a list for "spec.ports", found int',
    ],
    [
      'spec.kind',
      'objekt.name',
      "8:17 error unknown-name The API server rejects this default: undeclared reference to 'objekt' (in container '')",
    ],
  ] as const)
    test(`${path} cannot be ${value}`, () => {
      assert.equal(found(path, value)[0], expected);
    });

  test('unbalanced brackets are reported with their place', () => {
    const [first = ''] = found('spec.kind', 'size(object.spec.kind');
    assert.match(first, /^8:21 error expression-syntax "\(" is not closed in the expression/);
    const [second = ''] = found('spec.kind', "size(object.spec.kind)}] + [JSONPatch{value: ('a'");
    assert.match(second, /^8:39 error expression-syntax Unexpected "}"/);
  });

  test('for a kind of others, which has no schema of the author, a constant is no mistake', () => {
    assert.deepEqual(found("metadata.annotations['a/b']", "'low'", pods), []);
    assert.deepEqual(found('spec.priorityClassName', "'low'", pods), []);
    assert.match(found('spec.priorityClassNam', "'low'", pods)[0] ?? '', /Unknown field/);
  });

  test('a new object with "generateName" has no "request.name"', () => {
    assert.deepEqual(found('spec.limits.cpu', 'request.name'), [
      '8:25 error optional-parent "request.name" is missing in a request that creates an object with "generateName"',
    ]);
  });
});
