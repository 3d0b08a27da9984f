import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DefinitionValidator } from '../../validate-definitions.ts';

interface Case {
  readonly on?: string;
  readonly field?: string;
}

function definition(rule: string, { on, field }: Case): string {
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
            required: [spec]
            properties:
              spec:
                type: object
                required: [kind]
                properties:
                  kind: { type: string }
                  size: { type: integer }
                  mode: { type: string, default: fast }
                  limits: { type: object, properties: { cpu: { type: string } } }
                  ports: { type: array, items: { type: object, required: [port], properties: { port: { type: integer }, name: { type: string } } } }
                  options: { type: object, additionalProperties: { type: string } }
        subresources: { scale: { specReplicasPath: .spec.size, statusReplicasPath: .status.size } }
  admission:
    rules:
      - message: not permitted
${on === undefined ? '' : `        operations: [${on}]\n`}${field === undefined ? '' : `        field: ${field}\n`}        rule: ${JSON.stringify(rule)}
`;
}

describe('testing/check-admission', () => {
  const validator = new DefinitionValidator();
  after(() => validator.close());

  function found(rule: string, more: Case = {}): readonly string[] {
    const text = definition(`${rule}`, more);
    return validator
      .validate([{ file: 'web.yaml', text }])
      .diagnostics.filter(({ severity }) => severity === 'error')
      .map(({ column, code, message }) => `${column} ${code} ${message}`);
  }

  /** The column of a text in the rule. */
  const at = (rule: string, text: string) => 16 + rule.lastIndexOf(text);

  for (const [rule, text, on] of [
    ['object.spec.size <= 10', 'size', undefined],
    ["object.spec.limits.cpu == ''", 'limits', undefined],
    ["object.spec.limits.cpu == ''", 'cpu', undefined],
    ["object.metadata.labels['a'] == 'b'", 'labels', undefined],
    ["'a' in object.metadata.labels", 'labels', undefined],
    ["has(object.metadata.labels) && object.metadata.labels['a'] == 'b'", "'a'", undefined],
    ["object.spec.ports.all(p, p.name == 'a')", 'ports', undefined],
    ["!has(object.spec.ports) || object.spec.ports.all(p, p.name == 'a')", 'name', undefined],
    ['!has(object.spec.size) && object.spec.size > 1', 'size', undefined],
    ["object.spec.kind == oldObject.spec.kind && request.name != ''", 'oldObject', undefined],
    ["object.spec.kind == 'a' && request.name != ''", 'object', 'Delete'],
    ["has(object.status.conditions) && request.name != ''", 'status', undefined],
  ] as const) {
    test(`a value that may be missing needs a guard: ${rule} at ${text}`, () => {
      const columns = found(rule, { ...(on && { on }) })
        .filter((each) => each.includes(' optional-parent '))
        .map((each) => Number(each.split(' ')[0]));
      assert.ok(columns.includes(at(rule, text)), `${columns} lacks ${at(rule, text)}`);
    });
  }

  test('a value that may be missing needs a guard', () => {
    assert.deepEqual(found('object.spec.size <= 10'), [
      '28 optional-parent "object.spec.size" may be missing',
    ]);
  });

  for (const [rule, on] of [
    ["object.spec.kind == 'a' && object.spec.mode == 'b'", undefined],
    ['object.spec.?size.orValue(1) <= 10', undefined],
    ['!has(object.spec.size) || object.spec.size <= 10', undefined],
    ['has(object.spec.size) ? object.spec.size <= 10 : true', undefined],
    ['object.spec.size <= 10 || !has(object.spec.size)', undefined],
    [
      "has(object.spec.limits) && has(object.spec.limits.cpu) && object.spec.limits.cpu == 'a'",
      undefined,
    ],
    ["object.spec.?limits.?cpu.orValue('') == 'a'", undefined],
    ["'a' in object.metadata.?labels.orValue({})", undefined],
    ["'a' in object.metadata.?labels.orValue({}) && object.metadata.labels['a'] == 'b'", undefined],
    ["object.metadata.?labels[?'a'].orValue('') == 'b'", undefined],
    ["object.metadata.name.startsWith('a')", undefined],
    ["object.spec.?ports.orValue([]).all(p, p.port > 1 && p.?name.orValue('') != '')", undefined],
    ['oldObject == null || object.spec.kind == oldObject.spec.kind', undefined],
    ["request.operation == 'CREATE' || object.spec.kind == oldObject.spec.kind", undefined],
    ['object.spec.kind == oldObject.spec.kind', 'Update'],
    ["oldObject.spec.kind != 'a'", 'Delete'],
    ["request.operation != 'DELETE' || oldObject.spec.kind == 'a'", 'Create, Update, Delete'],
    ["(request.operation == 'DELETE' ? oldObject : object).spec.kind == 'a'", 'Update, Delete'],
    ["object.spec.?options[?'a'].hasValue()", undefined],
    ["namespaceObject.metadata.name != 'a' && request.userInfo.username != 'b'", undefined],
  ] as const) {
    test(`${rule} is guarded`, () => {
      assert.deepEqual(found(rule, { ...(on && { on }) }), []);
    });
  }

  for (const rule of [
    "!has(object.spec.options) || object.spec.options.all(k, v, size(k) < 9 && v != '')",
    "sets.contains(['a', 'b'], [object.spec.kind]) && request.name != ''",
    '!format.dns1123Label().validate(object.spec.kind).hasValue()',
    "object.spec.?options[?'a'].optMap(v, v.size() > 2).orValue(true)",
    "oldObject == null || object.spec.?size == oldObject.spec.?size || request.name == 'a'",
    'lists.range(3).size() == 3 && object.spec.?options.orValue({}).transformList(k, v, k + v).size() < 9',
  ]) {
    test(`what only an API server compiles is no mistake: ${rule}`, () => {
      assert.deepEqual(found(rule), []);
    });
  }

  test('a path of "scale" is a text, also with characters of regular expressions', () => {
    const rule = "object.spec.kind != '(' || request.name == 'a'";
    const text = definition(rule, {}).replace('.spec.size, ', '".spec.(size", ');
    assert.deepEqual(validator.validate([{ file: 'web.yaml', text }]).diagnostics, []);
  });

  test('of a kind of others, a value that may be missing is a warning: its API server sets defaults', () => {
    const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: web }
spec:
  for: { apiVersion: apps/v1, kind: Deployment }
  admission:
    rules:
      - { message: not permitted, rule: "object.spec.replicas <= 5" }
      - { message: not permitted, operations: [Delete], rule: "object.spec.paused == true" }
`;
    const { diagnostics } = validator.validate([{ file: 'web.yaml', text }]);
    assert.deepEqual(
      diagnostics
        .filter(({ code }) => code === 'optional-parent')
        .map(({ severity, line, message }) => [severity, line, message]),
      [
        ['warning', 8, '"object.spec.replicas" may be missing'],
        ['error', 9, '"object" is null in a request that deletes the object'],
        ['warning', 9, '"object.spec.paused" may be missing'],
      ],
    );
  });

  for (const [rule, expected] of [
    ["object.spec.knid == 'a'", '28 unknown-path Unknown field "knid"'],
    ['objekt.spec.kind', /unknown-name .*undeclared reference to 'objekt'/],
    ['object.spec.kind ==', /expression-syntax .*Syntax error/],
    ["(object.spec.kind == 'a'", /^\d+ expression-syntax .*is not closed/],
    ["object.spec.kind == 'a')", /^\d+ expression-syntax .*Unexpected/],
    ["'a' + 'b'", /wrong-type .*must evaluate to bool/],
  ] as const) {
    test(`a mistake is reported: ${rule}`, () => {
      const [first = ''] = found(rule);
      if (typeof expected === 'string') assert.equal(first, expected);
      else assert.match(first, expected);
    });
  }

  test('the field of a message exists', () => {
    assert.deepEqual(found("request.name != 'a'", { field: 'spec.sise' }), [
      '16 unknown-path Unknown field "sise" in "spec.sise"',
    ]);
    assert.deepEqual(found("request.name != 'a'", { field: 'spec.ports[].port' }), []);
  });

  function warnings(rule: string, more: Case = {}): readonly string[] {
    const text = definition(rule, more);
    return validator
      .validate([{ file: 'web.yaml', text }])
      .diagnostics.filter(({ severity }) => severity === 'warning')
      .map(({ message }) => message);
  }

  test('a rule that the schema can have has a warning', () => {
    const [message] = warnings("object.spec.kind != 'a'");
    assert.match(message ?? '', /^This rule looks only at the object/);
    assert.deepEqual(warnings("object.spec.kind != 'a'", { on: 'Create' }), []);
    assert.deepEqual(warnings("oldObject.spec.kind != 'a'", { on: 'Delete' }), []);
    assert.deepEqual(warnings('object.spec.kind != request.name'), []);
  });

  test('a rule over the replicas of a kind with "scale" has a warning', () => {
    const [message] = warnings("object.spec.?size.orValue(1) < 5 || request.name == 'a'");
    assert.match(message ?? '', /^Requests to "scale" change "spec\.size"/);
  });
});
