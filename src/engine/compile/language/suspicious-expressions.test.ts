import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestParser } from '../../../../test/support/compile/test-scope.ts';

function warningsOf(source: string) {
  const { leaf, problems } = createTestParser().parse(`\${ ${source} }`);
  assert.ok(leaf, `${source} has errors`);
  return problems;
}

describe('compile/language warnings', () => {
  for (const [source, message, hint, offset] of [
    [
      '"nginx:" + spec.tag',
      '"+" adds numbers, and one operand is a string',
      'Write "&" to join strings',
      12,
    ],
    [
      'spec.a & (spec.port + "")',
      '"+" adds numbers, and one operand is a string',
      'Write "&" to join strings',
      23,
    ],
    [
      'spec.image-tag',
      '"image-tag" is parsed as a subtraction',
      'Write `image-tag` in backquotes if it is one name, else put spaces around the minus',
      8,
    ],
    [
      'pull-policy-name',
      '"pull-policy-name" is parsed as a subtraction',
      'Write `pull-policy-name` in backquotes if it is one name, else put spaces around the minus',
      3,
    ],
    [
      'reads.pods[metadata.name = spec.pod]',
      '"spec.pod" in a predicate refers to a field of the element',
      'Write "$$.spec.pod" for the field of the resource',
      30,
    ],
    [
      'children.web[spec.hash != (status.hash ?? 1)]',
      '"!=" is false if "spec.hash" is missing',
      'Write "$not(a = b)", or add a default with "??"',
      26,
    ],
    [
      'spec.items[name = vars.first].value',
      '"vars.first" in a predicate refers to a field of the element',
      'Write "$$.vars.first" for the field of the resource',
      21,
    ],
    [
      '[spec.items[name = "a"]][0].value',
      'A field of one element of a list that is written here has no value: "[a, b][0].c"',
      'Put the list in parentheses: "([a, b])[0].c"',
      3,
    ],
    [
      'spec.phase != "Done"',
      '"!=" is false if "spec.phase" is missing',
      'Write "$not(a = b)", or add a default with "??"',
      14,
    ],
    [
      'spec.phase in ["Done", null]',
      '"in" never finds null: it is a missing value',
      'Write "$not($exists(a))" or "a = null" to find out whether "a" is missing',
      26,
    ],
    [
      'spec.a ?? 0 >= spec.b',
      '"??" uses the whole "0 >= spec.b" as the default',
      'Put the value and its default in parentheses: "(a ?? b)"',
      10,
    ],
    [
      'spec.a ?: spec.b ? 1 : 2',
      '"?:" uses the whole "spec.b ? 1 : 2" as the default',
      'Put the value and its default in parentheses: "(a ?: b)"',
      10,
    ],
    [
      'spec.a = spec.b ?? 0',
      '"??" applies to the whole "=" expression before it',
      'Put the value and its default in parentheses: "(a ?? b)"',
      19,
    ],
  ] as const) {
    test(`${source} is suspicious`, () => {
      assert.deepEqual(warningsOf(source), [
        { severity: 'warning', code: 'suspicious-expression', message, hint, offset },
      ]);
    });
  }

  for (const source of [
    '([spec.items])[0].value',
    '[spec.items][0]',
    'spec.`image-tag`',
    'spec.size - spec.spare',
    'spec.size-1',
    '"image-tag"',
    '-spec.size',
    'reads.pods[metadata.name = $$.spec.pod]',
    'reads.pods[spec.nodeName = "n1"]',
    'reads.pods[status.podIP = metadata.labels.ip]',
    'spec.items[name = metadata.name]',
    'spec.phase = "Done"',
    '$not(spec.phase = "Done")',
    '(spec.phase ?? "") != "Done"',
    'metadata.name != "default"',
    'spec.phase != null',
    'spec.phase = null',
    '{"phase": null, "phases": [null]}',
    '$index != 0',
    '(spec.a ?? 0) >= spec.b',
    'spec.a ?? (0 >= spec.b)',
    'spec.a ?? spec.b ?? 0',
    'spec.a + spec.b ?? 0',
    'spec.a ? spec.b : spec.c ? 1 : 2',
  ]) {
    test(`${source} is not suspicious`, () => {
      assert.deepEqual(warningsOf(source), []);
    });
  }
});
