import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import {
  compileThing,
  configMap,
  failureOf,
  noElement,
  phaseOf,
  planOfThing,
  present,
  thing,
} from '../../../../test/support/thing-plan.ts';
import { bundledSchemas, compile, type OperatorPlan } from '../index.ts';

/** The plan of a definition for a kind that is there already. */
function planFor(kind: string, body: string): OperatorPlan {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: served }
spec:
  for: { apiVersion: v1, kind: ${kind} }
${body}`;
  const { definitions, diagnostics } = definitionParser.parse(text, 'served.yaml');
  assert.deepEqual(diagnostics, []);
  const [located] = definitions;
  assert.ok(located);
  const { plan } = compile(located, bundledSchemas());
  assert.ok(plan);
  return plan;
}

/** All that is not open: `child.a content`. */
function secretsOf(plan: OperatorPlan): readonly string[] {
  const named = [
    ...plan.reads.map(({ id, secrecy }) => [`read ${id}`, secrecy]),
    ...plan.children.map(({ id, secrecy }) => [`child ${id}`, secrecy]),
    ...(plan.reporting?.patches.map(({ id, secrecy }) => [`patch ${id}`, secrecy]) ?? []),
    ['resource', plan.secrecy],
  ];
  return named.filter(([, secrecy]) => secrecy !== 'none').map((each) => each.join(' '));
}

const read = '  reads: [{ id: key, apiVersion: v1, kind: Secret, name: a }]\n';
const map = (id: string, metadata: string, data = '') =>
  `    - { id: ${id}, template: { apiVersion: v1, kind: ConfigMap, metadata: { ${metadata} }, data: { ${data} } } }\n`;

describe('compile/analysis secret flow', () => {
  for (const [what, body, expected] of [
    [
      'a child of a read Secret, and what is made of that child',
      `${read}  children:\n${configMap('a', 'x: "${ reads.key.data.x }"')}${configMap('b', 'x: "${ children.a.data.x }"')}${configMap('c', 'x: z')}`,
      ['read key content', 'child a content', 'child b content'],
    ],
    [
      'what is seen under `observed`, and what comes through vars',
      `  vars: { x: "\${ observed.s.data.x }" }
  children:
    - { id: s, template: { apiVersion: v1, kind: Secret, metadata: { name: s } } }
${configMap('a', 'x: "${ vars.x }"')}`,
      ['child s content', 'child a content'],
    ],
    [
      'the status, and what is made of its field alone',
      `${read}  status: { x: "\${ reads.key.data.x }", b: "\${ spec.y }" }
  children:
${configMap('a', 'x: "${ status.x }"')}${configMap('b', 'x: "${ status.b }"')}${configMap('c', 'x: "${ $string(status) }"')}`,
      ['read key content', 'child a content', 'child c content', 'resource content'],
    ],
    [
      'a condition',
      `${read}  conditions: [{ type: Known, status: "\${ reads.key.data.x = 'y' }" }]
  children:
${configMap('a', 'x: "${ $condition($self, \'Known\').reason }"')}`,
      ['read key content', 'child a content', 'resource content'],
    ],
    [
      'elements, where they use their item',
      `${read}  children:
${configMap('a', 'x: "${ $item }"', 'forEach: ${ reads.key.data.x }')}${configMap('b', 'x: "${ $index }"', 'forEach: ${ reads.key.data.x }')}`,
      ['read key content', 'child a content'],
    ],
    [
      'names, and labels, which may be read like names',
      `${read}  children:
${map('a', 'name: "${ reads.key.data.x }"')}${map('b', 'name: b, labels: { x: "${ reads.key.data.x }" }')}${map('c', 'name: "c-${ children.a.metadata.name }"')}${map('d', 'name: d, annotations: { x: "${ reads.key.data.x }" }')}${map('e', 'name: "e-${ children.d.metadata.name }"')}`,
      [
        'read key content',
        'child a all',
        'child b all',
        'child c all',
        'child d content',
        // Its status lists the names of children.
        'resource content',
      ],
    ],
    [
      'a read of what it has written, and one that asks with a Secret',
      `  reads:
    - { id: key, apiVersion: v1, kind: Secret, name: a }
    - { id: same, apiVersion: v1, kind: ConfigMap, name: x }
    - { id: asks, apiVersion: v1, kind: Service, name: "\${ reads.key.data.x }" }
    - { id: other, apiVersion: v1, kind: Service, name: x }
  children:
${configMap('a', 'x: "${ reads.key.data.x }"')}`,
      ['read key content', 'read same content', 'read asks all', 'child a content'],
    ],
    [
      'what it patches: the resource, objects of a kind, and their readers',
      `${read}  patches:
    - { id: self, patch: { spec: { x: "\${ reads.key.data.x }" } } }
    - { id: other, target: { apiVersion: v1, kind: ConfigMap, name: x }, patch: { data: { x: "\${ reads.key.data.x }" } } }
    - { id: named, target: { apiVersion: v1, kind: Service, name: "\${ reads.key.data.x }" }, patch: { spec: { type: ClusterIP } } }
    - { id: plain, target: { apiVersion: v1, kind: Service, name: x }, patch: { spec: { type: ClusterIP } } }
  children:
${configMap('a', 'x: z')}    - { id: b, template: { apiVersion: v1, kind: Service, metadata: { name: b } } }
`,
      [
        'read key content',
        'child a content',
        'patch self content',
        'patch other content',
        'patch named all',
        'resource content',
      ],
    ],
    [
      'nothing else: not what reads names and the like of a Secret',
      `${read}  status: { x: "\${ reads.key.metadata.name }" }
  children:
    - { id: s, template: { apiVersion: v1, kind: Secret, metadata: { name: "\${ metadata.name }" } } }
${configMap('a', 'x: "${ reads.key.metadata.resourceVersion }", b: "${ children.s.metadata.name }"')}`,
      ['read key content', 'child s content'],
    ],
  ] as const) {
    test(`finds ${what}`, () => {
      const { plan } = compileThing(body);
      assert.ok(plan);
      assert.deepEqual(secretsOf(plan), expected);
    });
  }

  test('a resource that is a Secret is one like a Secret that is read, and its labels are not', () => {
    const plan = planFor(
      'Secret',
      `  children:
${configMap('a', 'x: "${ $base64decode(data.x) }"')}${configMap('b', 'x: "${ metadata.labels.x }"')}${configMap('c', 'x: "${ $string(metadata.annotations) }"')}${configMap('d', 'x: "${ $string($self) }"')}`,
    );
    assert.deepEqual(secretsOf(plan), [
      'child a content',
      'child c content',
      'child d content',
      'resource content',
    ]);
  });

  test('a resource of a kind that values of a Secret are written into may contain them', () => {
    const plan = planFor(
      'ConfigMap',
      `${read}  children:\n${configMap('a', 'x: "${ reads.key.data.x }"')}`,
    );
    assert.deepEqual(secretsOf(plan), ['read key content', 'child a content', 'resource content']);
  });
});

describe('compile/analysis secret flow: messages', () => {
  const plan = planOfThing(`${read}  children:
${configMap('a', 'x: "${ reads.key.data.x }"')}    - id: pod
      template: { apiVersion: v1, kind: Pod, metadata: { name: pod }, spec: "\${ { children.a.data.x: 1 } }" }
    - id: keyed
      template: { apiVersion: v1, kind: Pod, metadata: { name: keyed }, spec: { "\${ children.a.data.x }": 1 } }
    - id: equal
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map }, data: { hunter2: a, "\${ children.a.data.x }": b } }
    - id: labels
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: labels, labels: "\${ { children.a.data.x: [1] } }" } }
    - id: key
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: key, labels: { "\${ children.a.data.x }": "\${ spec.list }" } } }
`);

  for (const [child, message] of [
    ['pod', 'invalid-manifest spec: Unknown field in spec'],
    ['keyed', 'invalid-manifest spec["${ children.a.data.x }"]: Unknown field in spec'],
    ['equal', 'invalid-manifest data["${ children.a.data.x }"]: Two keys are equal'],
    ['labels', 'wrong-type metadata.labels: Expected a string at metadata.labels[*], found a list'],
    [
      'key',
      'wrong-type metadata.labels["${ children.a.data.x }"]: Expected a string at metadata.labels[*], found a list',
    ],
  ] as const) {
    test(`a key that may come from a Secret is not quoted: ${child}`, async () => {
      const phase = phaseOf(plan, { resource: thing({ list: [1] }) });
      phase.setRead('key', present({ data: { x: 'hunter2' } }));
      phase.setChild('a', present({ metadata: { name: 'a' }, data: { x: 'hunter2' } }));
      assert.equal(failureOf(await phase.manifest(child, noElement)), message);
    });
  }

  test('warns about values of a user-chosen Secret that others can read, also behind a child', () => {
    const { diagnostics } =
      compileThing(`  reads: [{ id: key, apiVersion: v1, kind: Secret, name: "\${ spec.name }" }]
  status: { x: "\${ children.copy.data.x }" }
  children:
    - { id: copy, template: { apiVersion: v1, kind: Secret, metadata: { name: copy }, data: { x: "\${ reads.key.data.x }" } } }
`);
    assert.deepEqual(
      diagnostics.map(({ message }) => message),
      ['Users who can create a Thing can read every Secret of its namespace through "status.x"'],
    );
  });

  const chosen = (use: string, vars = '') =>
    compileThing(`${vars}  reads: [{ id: key, apiVersion: v1, kind: Secret, name: "\${ spec.name }", optional: true }]
  status: { x: ${use} }
`).diagnostics.map(({ message }) => message);
  const vars = (value: string) => `  vars: { a: ${value} }\n`;

  for (const [use, before = ''] of [
    ['"${ $hash(reads.key.data) }"'],
    ['"${ reads.key.data ~> $hash }"'],
    ['"${ reads.key.data ~> $hash() }"'],
    ['"${ $hash(reads.key.data.a & reads.key.data.b & spec.x) }"'],
    [`'\${ $hash({ "a": reads.key.data.a, "b": [$string(reads.key.data.b)] }) }'`],
    ['"${ ($d := reads.key.data; $hash($d)) }"'],
    ['"hash-${ $hash(reads.key.data) }"'],
    ['"${ $exists(reads.key.data.token) }"'],
    ['"${ $not($exists(reads.key)) and $count(reads.key.data.x) > 0 }"'],
    ['"${ $boolean(reads.key.data.x) or $type(reads.key.data.x) = \'string\' }"'],
    ['"${ reads.key.data.token != null }"'],
    [`"\${ reads.key.data.token ? 'yes' : 'no' }"`],
    ['"{{#if reads.key.data.token}}yes{{/if}}{{#unless (not reads.key)}}no{{/unless}}"'],
    ['"${ $hash(vars.a) }"', vars('{ x: "${ reads.key.data.x }", z: "a-${ reads.key.data.z }" }')],
    ['"${ vars.a }"', vars('"${ $hash(reads.key.data) }"')],
  ] as const)
    test(`does not warn where the value of a user-chosen Secret does not leave: ${use} ${before.trim()}`, () =>
      assert.deepEqual(chosen(use, before), []));

  for (const [use, before = ''] of [
    // Who chooses the other value can ask until it is found.
    ['"${ reads.key.data.token = spec.guess }"'],
    ['"${ $hash(reads.key.data.token = spec.guess) }"'],
    ['"${ $count(reads.key.data.*[$ = $$.spec.guess]) }"'],
    ['"${ $exists(reads.key.data[token > spec.guess]) }"'],
    ['"${ $contains(reads.key.data.token, spec.guess) }"'],
    ['"${ $hash($substring(reads.key.data.token, 0, 1)) }"'],
    ['"${ $count($split(reads.key.data.token, spec.guess)) }"'],
    ['"${ ($hash := function($x){ $x }; $hash(reads.key.data.token)) }"'],
    ['"${ ($hash := $string; $hash(reads.key.data.token)) }"'],
    ['"${ $hash(reads.key.data) & reads.key.data.token }"'],
    ['"${ reads.key.data.token ?: \'none\' }"'],
    ['"{{#if reads.key.data.token}}{{reads.key.data.token}}{{/if}}"'],
    ['"{{#if (eq reads.key.data.token spec.guess)}}yes{{/if}}"'],
    ['"${ $hash(vars.a) }"', vars('"${ $substring(reads.key.data.x, 0, 1) }"')],
    ['"${ $hash(vars.a) & vars.a }"', vars('"${ reads.key.data.x }"')],
  ] as const)
    test(`warns where it does: ${use} ${before.trim()}`, () => {
      const expected =
        'Users who can create a Thing can read every Secret of its namespace through "status.x"';
      assert.ok(chosen(use, before).includes(expected), chosen(use, before).join());
    });

  test('warns about a value, not about its hash, in a cluster that labels choose', () => {
    const placed = (use: string) =>
      compileThing(`${read}  children:
    - { id: copy, cluster: "\${ spec.x }", crossCluster: { selector: all }, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: copy }, data: { x: "${use}" } } }
`).diagnostics.map(({ message }) => message);
    assert.deepEqual(placed('${ $hash(reads.key.data) }'), []);
    assert.deepEqual(placed('${ reads.key.data.x }'), [
      'Users who can label Cluster objects can receive values of a Secret through child "copy"',
    ]);
  });
});
