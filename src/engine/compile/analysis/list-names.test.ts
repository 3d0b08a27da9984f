import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileThing, planOfThing } from '../../../../test/support/thing-plan.ts';

const schema = `
            type: object
            properties:
              spec:
                type: object
                properties:
                  name: { type: string }
                  names: { type: array, items: { type: string } }
                  refs: { type: array, items: { type: object, properties: { name: { type: string }, used: { type: boolean }, more: { type: array, items: { type: string } } } } }
                  by: { type: object, additionalProperties: { type: array, items: { type: string } } }
                  open: { x-kubernetes-preserve-unknown-fields: true }`;

const others = `
    - { id: pods, apiVersion: v1, kind: Pod, selector: all }
    - { id: one, apiVersion: v1, kind: Pod, name: a }
    - { id: several, apiVersion: v1, kind: Pod, name: [a, b] }
  vars:
    text: a
    list: [a, "\${ spec.name }"]
    map: { list: "\${ spec.names }", name: "\${ spec.name }" }
    found: \${ spec.names }
    ref: \${ spec.refs[0] }
  children:
    - id: maps
      forEach: \${ spec.names }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $item }" } }
`;

function byOf(name: string): string | undefined {
  const { plan, diagnostics } = compileThing(
    `  reads:\n    - { id: x, apiVersion: v1, kind: Secret, name: ${name}, optional: true }${others}`,
    schema,
  );
  const errors = diagnostics.filter(
    ({ severity, code }) => severity === 'error' && code !== 'cycle',
  );
  assert.deepEqual(errors, []);
  return plan?.reads.find(({ id }) => id === 'x')?.by;
}

describe('compile/analysis/list-names', () => {
  for (const name of [
    '[a]',
    '[a, "${ spec.name }"]',
    '["${... spec.names }"]',
    '"${ spec.names }"',
    '"${ spec.names ?? [] }"',
    '"${ spec.names[$ != $$.spec.name] }"',
    '"${ [spec.name] }"',
    '"${ spec.name[] }"',
    '"${ spec.refs.name }"',
    '"${ spec.refs[used].name }"',
    '"${ spec.refs[0].more }"',
    '"${ spec.refs^(name).name }"',
    '"${ spec.by.a }"',
    '"${ $split(spec.name, \',\') }"',
    '"${ $split(spec.name, \',\').$trim($) }"',
    '"${ $unique([spec.name, spec.names]) }"',
    '"${ $filter(spec.names, function($n) { $n != spec.name }) }"',
    '"${ spec.names ~> $sort }"',
    '"${ spec.open = 1 ? spec.name : spec.names }"',
    '"${ ($n := 1; spec.names) }"',
    '"${ $$.spec.names }"',
    '"${ $self.spec.names }"',
    '"${ vars.list }"',
    '"${ vars.map.list }"',
    '"${ vars.found }"',
    '"${ vars.ref.more }"',
    '"${ reads.pods.metadata.name }"',
    '"${ reads.several.metadata.name }"',
    '"${ reads.one.spec.containers.name }"',
    '"${ children.maps.metadata.name }"',
  ])
    test(`a list of names: ${name}`, () => assert.equal(byOf(name), 'names'));

  for (const name of [
    'a',
    '"${ spec.name }"',
    '"x-${ spec.name }"',
    '"{{ spec.name }}"',
    '"${ spec.names[0] }"',
    '"${ spec.names[-1] }"',
    '"${ $split(spec.name, \',\')[0] }"',
    '"${ [spec.name][0] }"',
    '"${ spec.refs[0].name }"',
    '"${ spec.refs[used][0].name }"',
    '"${ spec.open }"',
    '"${ $lookup(spec.open, spec.name) }"',
    '"${ ($sort := function($n) { spec.name }; $sort(spec.names)) }"',
    '"${ $join(spec.names, \'-\') }"',
    '"${ vars.text }"',
    '"${ vars.map.name }"',
    '"${ vars.list[0] }"',
    '"${ vars.ref.name }"',
    '"${ reads.pods[0].metadata.name }"',
    '"${ reads.one.metadata.name }"',
    '"${ children.maps[0].metadata.name }"',
  ])
    test(`one name: ${name}`, () => assert.equal(byOf(name), 'name'));

  test('names that refer to each other end', () => {
    const { diagnostics } = compileThing(
      '  reads:\n    - { id: x, apiVersion: v1, kind: Secret, name: "${ vars.a }" }\n  vars: { a: "${ vars.b }", b: "${ vars.a }" }\n',
    );
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ['cycle'],
    );
  });

  test('a list of literals has the names, also for the rights', () => {
    const [read] = planOfThing(
      '  reads: [{ id: x, apiVersion: v1, kind: Secret, name: [b, a], namespace: shared, crossNamespace: true }]\n',
    ).reads;
    assert.deepEqual([read?.literalNames, read?.namespaces], [['b', 'a'], ['shared']]);
  });

  test('a list with one computed name has none', () => {
    const [read] = planOfThing(
      '  reads: [{ id: x, apiVersion: v1, kind: Secret, name: [b, "${ metadata.name }"] }]\n',
    ).reads;
    assert.deepEqual([read?.literalNames, read?.namespaces], [undefined, undefined]);
  });
});
