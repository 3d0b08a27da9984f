import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createOperatorTestParser } from '#definition';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { ObjectCheck } from './check-object.ts';
import { checkTest } from './check-test.ts';

const definition = (fields: string) => `apiVersion: homeostat.dev/v1alpha1
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
              spec: { type: object, properties: { ${fields} } }
              status: { type: object, properties: { ready: { type: integer } } }
`;

function checkFor(fields: string): ObjectCheck {
  const [located] = definitionParser.parse(definition(fields), 'web.yaml').definitions;
  assert.ok(located);
  return new ObjectCheck([located]);
}

const parser = createOperatorTestParser();
const web = 'apiVersion: example.com/v1, kind: Web, metadata: { name: a }';
const deployment = 'apiVersion: apps/v1, kind: Deployment, metadata: { name: a }';

describe('simulation/check-test', () => {
  const first = checkFor('size: { type: integer }');
  const second = checkFor('size: { type: integer }, image: { type: string }');
  after(() => {
    first.close();
    second.close();
  });

  /** The mistakes of a test with these lines below `steps`; the first is line 6. */
  function mistakesIn(...lines: readonly string[]): readonly string[] {
    const text = [
      'apiVersion: homeostat.dev/v1alpha1',
      'kind: OperatorTest',
      'metadata: { name: web }',
      'spec:',
      '  steps:',
      ...lines.map((line) => `    ${line}`),
    ].join('\n');
    const { tests, diagnostics } = parser.parse(text, 'test.yaml');
    assert.deepEqual(diagnostics, []);
    const [only] = tests;
    assert.ok(only);
    const step = only.steps.findIndex((each) => each.definition !== undefined);
    const later = step < 0 ? [] : [{ step, check: second }];
    return checkTest(only, [{ step: 0, check: first }, ...later]).map(
      ({ severity, line, column, message, hint }) =>
        `${line}:${column}: ${severity === 'error' ? '' : `${severity}: `}${message}${hint === undefined ? '' : `. ${hint}`}`,
    );
  }

  for (const [what, lines, expected] of [
    [
      'a right test has none',
      [
        '- name: a',
        `  apply: { ${web}, spec: { size: 1 } }`,
        '  patch: { target: Web/a, merge: { spec: { size: null } } }',
        '  expect:',
        `    - object: { ${deployment}, spec: { replicas: { $gt: 1 }, template: { spec: { containers: [{ name: a, image: "\${ objects.Web.a.spec.image }" }] } } } }`,
        `    - object: { ${deployment}, spec: { paused: { $absent: true } } }`,
        '    - status: { of: Web/a, is: { ready: 1 } }',
        '    - condition: { of: Web/a, type: Ready, status: "True" }',
      ],
      [],
    ],
    [
      'a field of an applied resource',
      ['- name: a', `  apply: { ${web}, spec: { sise: 1 } }`],
      ['7:86: Unknown field "sise". Did you mean "size"?'],
    ],
    [
      'fields of a patch',
      ['- name: a', '  patch: { target: Web/a, merge: { spec: { sise: null, size: big } } }'],
      [
        '7:48: Unknown field "sise". Did you mean "size"?',
        '7:66: Expected an integer, found "big"',
      ],
    ],
    [
      'an apply of a part of a built-in object is not complete, but has no unknown field',
      ['- name: a', `  apply: { ${deployment}, spec: { replcas: 1 } }`],
      ['7:86: Unknown field "replcas". Did you mean "replicas"?'],
    ],
    [
      'an applied object without a name',
      ['- name: a', '  apply: { apiVersion: v1, kind: ConfigMap, metadata: {}, data: {} }'],
      ['7:49: Missing field "name"'],
    ],
    [
      'fields of expected objects, also with a matcher',
      [
        '- name: a',
        '  expect:',
        `    - object: { ${deployment}, spec: { replicas: "3" } }`,
        `    - object: { ${deployment}, spec: { pausd: { $absent: true } } }`,
        `    - absent: { apiVersion: v1, kind: ConfigMp, metadata: { name: a } }`,
        '    - status: { of: Web/a, is: { redy: 1 } }',
      ],
      [
        '8:101: Expected an integer, found "3". Write it without quotes: 3',
        '9:91: Unknown field "pausd". Did you mean "paused"?',
        '10:43: There is no kind "ConfigMp" in "v1". Did you mean "ConfigMap"?',
        '11:38: Unknown field "redy". Did you mean "ready"?',
      ],
    ],
    [
      'kinds of references',
      [
        '- name: a',
        '  delete: [Deploymnt/a, Wbe/a]',
        '  expect:',
        '    - condition: { of: Wen/a, type: Ready }',
        '    - event: { of: Nonsense/a }',
      ],
      [
        '7:16: There is no kind "Deploymnt". Did you mean "Deployment"?',
        '7:29: There is no kind "Wbe". Did you mean "Web"?',
        '9:28: There is no kind "Wen". Did you mean "Web"?',
        '10:24: There is no kind "Nonsense". Neither Kubernetes nor a definition has this kind',
      ],
    ],
    [
      'a kind of another operator is a warning, once',
      [
        '- name: a',
        '  apply: { apiVersion: cert-manager.io/v1, kind: Certificate, metadata: { name: a } }',
        '  delete: Certificate/a',
      ],
      [
        '7:54: warning: There is no kind "Certificate" in "cert-manager.io/v1". Neither Kubernetes nor a definition has this kind',
      ],
    ],
    [
      'expressions',
      [
        '- name: a',
        '  expect:',
        '    - status: { of: Web/a, is: { ready: "${ objects.Web.a. }" } }',
        '    - status: { of: Web/a, is: { ready: "${ object.Web.a }" } }',
        '    - status: { of: Web/a, is: { ready: "${ objects.Wbe.a.status.ready }" } }',
      ],
      [
        '8:63: Unexpected end of the expression',
        '9:45: Unknown name "object". Expressions of a test read objects: "objects.Deployment.web.status"',
        '10:45: There is no kind "Wbe". Did you mean "Web"?',
      ],
    ],
    [
      'an expected part of an object may leave out what the object needs',
      [
        '- name: a',
        '  expect:',
        '    - object: { apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: { name: a }, subjects: [{ kind: Group, name: a }] }',
        '    - object: { apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: { name: a }, roleRef: { kind: Rule } }',
      ],
      ['9:122: Expected "Role" or "ClusterRole", found "Rule". Did you mean "Role"?'],
    ],
    [
      'matchers, and the text of a status',
      [
        '- name: a',
        '  expect:',
        '    - condition: { of: Web/a, type: Ready, status: True, reason: { $mtch: a } }',
        '    - condition: { of: Web/a, type: Ready, message: { $match: "[" } }',
        '    - writes: { $gt: "3" }',
      ],
      [
        '8:56: Expected a string, found "true". Quote it: "True"',
        '8:72: Unknown matcher "$mtch". Did you mean "$match"?',
        '9:67: Expected a regular expression, found "[". Unterminated character class',
        '10:26: Expected a number, found "3"',
      ],
    ],
    [
      'an action comes before the new definitions of its step, an expectation after them',
      [
        '- name: a',
        `  apply: { ${web}, spec: { image: a } }`,
        '  definition: other.yaml',
        '  expect:',
        `    - object: { ${web}, spec: { image: a } }`,
        '- name: b',
        `  apply: { ${web}, spec: { image: a } }`,
      ],
      ['7:86: Unknown field "image". Known fields: size'],
    ],
  ] as const)
    test(what, () => {
      assert.deepEqual(mistakesIn(...lines), expected);
    });
});
