import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LabelSelector } from '#util/label-selector.ts';
import {
  failureOf,
  givenBy,
  phaseOf,
  planOfThing,
  present,
  thing,
} from '../../../../test/support/thing-plan.ts';

function requestOf(read: string, spec: unknown, more = '') {
  const plan = planOfThing(
    `  reads:\n    - { id: x, apiVersion: v1, kind: ConfigMap, ${read} }${more}\n`,
  );
  return phaseOf(plan, { resource: thing(spec) }).readRequest('x');
}

async function namesOf(name: string, spec: unknown, more = ''): Promise<readonly string[]> {
  const request = givenBy(await requestOf(`name: ${name}${more}`, spec));
  assert.equal(request.by, 'names');
  return (request as Extract<typeof request, { by: 'names' }>).names;
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

describe('compile/phase/read-request, a list of names', () => {
  test('has the names in their order, each once', async () => {
    assert.deepEqual(
      await namesOf('"${ [spec.a, spec.names] }"', { a: 'z', names: ['b', 'a', 'b'] }),
      ['z', 'b', 'a'],
    );
    assert.deepEqual(
      await namesOf('[c, "${ spec.a }", "${... spec.names }"]', { a: 'b', names: ['a'] }),
      ['c', 'b', 'a'],
    );
  });

  test('one name is a list, and so is none', async () => {
    assert.deepEqual(await namesOf('"${ [spec.names] }"', { names: 'a' }), ['a']);
    assert.deepEqual(await namesOf('"${ [spec.names] }"', { names: [] }), []);
    assert.deepEqual(
      await namesOf('"${ [spec.refs.name] }"', { refs: [{ name: 'a' }, { other: 1 }] }),
      ['a'],
    );
  });

  test('a missing list is an error, never an empty one', async () => {
    assert.equal(
      failureOf(await requestOf('name: "${ $unique(spec.names) }"', {})),
      'missing-value reads.x.name: Missing value "spec.names"',
    );
    assert.equal(
      failureOf(await requestOf('name: [a, "${ spec.b }"]', {})),
      'missing-value reads.x.name[1]: Missing value "spec.b"',
    );
    assert.deepEqual(await namesOf('"${ [spec.names ?? []] }"', {}), []);
  });

  test('with optional, what is missing is left out', async () => {
    const optional = ', optional: true';
    assert.deepEqual(await namesOf('"${ $unique(spec.names) }"', {}, optional), []);
    assert.deepEqual(await namesOf('[a, "${ spec.b }"]', {}, optional), ['a']);
    assert.deepEqual(await namesOf('"${ [spec.a, spec.b] }"', { b: 'b' }, optional), ['b']);
  });

  for (const [what, value, found] of [
    ['a number', 1, '"1"'],
    ['an object', { a: 1 }, 'a map'],
    ['a path', 'a/b', '"a/b"'],
    ['an empty string', '', '""'],
    ['a text of 254 characters', 'a'.repeat(254), 'a string'],
  ] as const)
    test(`${what} is no name`, async () => {
      assert.equal(
        failureOf(await requestOf('name: "${ [spec.names] }"', { names: ['a', value] })),
        `wrong-type reads.x.name: Expected an object name at reads.x.name[1], found ${found}`,
      );
    });

  for (const optional of [false, true])
    test(`more than a thousand names are too many (optional: ${optional})`, async () => {
      const request = (names: readonly string[]) =>
        requestOf(`name: "\${ [spec.names] }", optional: ${optional}`, { names });
      assert.equal((await request(many(1_000))).kind, 'value');
      assert.match(
        failureOf(await request(many(1_001))),
        /^limit-reached reads\.x\.name: .*"1001"$/,
      );
      assert.match(
        failureOf(await request(many(10_000))),
        /^limit-reached reads\.x\.name: .*"10000"$/,
      );
    });

  test('a list where the form of the expression shows none is an error that says how to write one', async () => {
    assert.equal(
      failureOf(await requestOf('name: "${ $lookup(spec, \'names\') }"', { names: ['a', 'b'] })),
      'wrong-type reads.x.name: Expected a string at reads.x.name, found a list. Write it as "${ [ ... ] }" to read a list of names',
    );
  });

  test('all names are in the namespace of the read', async () => {
    const place = ', namespace: "${ spec.namespace }", crossNamespace: { namespaces: ["team-*"] }';
    const spec = { names: ['a', 'b'], namespace: 'team-a' };
    assert.deepEqual(givenBy(await requestOf(`name: "\${ [spec.names] }"${place}`, spec)), {
      by: 'names',
      names: ['a', 'b'],
      namespace: 'team-a',
    });
    assert.match(
      failureOf(
        await requestOf(`name: "\${ [spec.names] }"${place}`, {
          ...spec,
          namespace: 'kube-system',
        }),
      ),
      /Expected a namespace that "crossNamespace" allows/,
    );
  });

  test('names of what is not there yet are waited for', async () => {
    const plan = planOfThing(
      `  reads:
    - { id: x, apiVersion: v1, kind: ConfigMap, name: "\${ reads.index.data.names ~> $split(',') }" }
    - { id: index, apiVersion: v1, kind: ConfigMap, name: index }
`,
    );
    const phase = phaseOf(plan);
    assert.deepEqual(await phase.readRequest('x'), { kind: 'waiting', on: ['reads.index'] });
    phase.setRead('index', present({ data: { names: 'a,b' } }));
    assert.deepEqual(givenBy(await phase.readRequest('x')), { by: 'names', names: ['a', 'b'] });
  });
});

async function selectorOf(selector: unknown, expression = '${ spec.selector }') {
  const request = givenBy(await requestOf(`selector: "${expression}"`, { selector }));
  assert.equal(request.by, 'selector');
  return (request as Extract<typeof request, { by: 'selector' }>).selector;
}

function requirements(...matchExpressions: LabelSelector['matchExpressions']): LabelSelector {
  return { matchLabels: {}, matchExpressions };
}

describe('compile/phase/read-request, a selector that one expression returns', () => {
  test('is an object as Kubernetes has it, or a text', async () => {
    const expected = requirements(
      { key: 'a', operator: 'In', values: ['b'] },
      { key: 'c', operator: 'In', values: ['d', 'e'] },
      { key: 'f', operator: 'DoesNotExist', values: [] },
    );
    const expressions = [
      { key: 'c', operator: 'In', values: ['d', 'e'] },
      { key: 'f', operator: 'DoesNotExist' },
    ];
    const object = { matchLabels: { a: 'b' }, matchExpressions: expressions };
    assert.deepEqual(await selectorOf(object), expected);
    const text = (await selectorOf('a=b,c in (d, e),!f')) as LabelSelector;
    assert.deepEqual(
      text.matchExpressions.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
      expected.matchExpressions,
    );
    assert.deepEqual(
      await selectorOf('b', 'a=${ spec.selector }'),
      requirements(expected.matchExpressions[0]!),
    );
  });

  test('selects nothing without a value, and everything if it is empty', async () => {
    assert.equal(await selectorOf(undefined), 'none');
    assert.equal(await selectorOf(null), 'none');
    assert.deepEqual(await selectorOf({}), requirements());
    assert.deepEqual(await selectorOf({ matchLabels: {}, matchExpressions: null }), requirements());
    assert.deepEqual(await selectorOf(''), requirements());
  });

  for (const [what, selector] of [
    ['an operator that does not exist', { matchExpressions: [{ key: 'a', operator: 'Is' }] }],
    ['an operator without values', { matchExpressions: [{ key: 'a', operator: 'In' }] }],
    [
      'values that an operator does not take',
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
    ],
    ['a mistyped field', { matchLabel: { a: 'b' } }],
    ['a key that is none', { matchLabels: { 'a b': 'c' } }],
    ['a value that is none', { matchLabels: { a: 'b c' } }],
    ['a number as a value', { matchLabels: { a: 1 } }],
    ['a list', ['a']],
    ['a number', 1],
    ['a text that is none', 'a in b'],
  ] as const)
    test(`${what} is an error, never a wider selector`, async () => {
      assert.match(
        failureOf(await requestOf('selector: "${ spec.selector }"', { selector })),
        /^wrong-type reads\.x\.selector: Expected a label selector: "matchLabels" and "matchExpressions", or a string such as .* at reads\.x\.selector, found /,
      );
    });

  for (const [what, selector, message] of [
    [
      'requirements',
      { matchLabels: Object.fromEntries(many(101).map((key) => [key, 'a'])) },
      'Expected at most 100 requirements at reads.x.selector, found "101"',
    ],
    [
      'values',
      { matchExpressions: [{ key: 'a', operator: 'In', values: many(1_001) }] },
      'Expected at most 1000 values at reads.x.selector, found "1001"',
    ],
    [
      'characters',
      many(20_000).join(','),
      'Expected a text of at most 65536 characters at reads.x.selector, found "128889"',
    ],
  ] as const)
    test(`has a limited number of ${what}: it is compared with every object`, async () => {
      assert.equal(
        failureOf(await requestOf('selector: "${ spec.selector }"', { selector })),
        `limit-reached reads.x.selector: ${message}`,
      );
    });

  test('computed requirements have the same limits', async () => {
    const matchExpressions = many(101).map((key) => ({ key, operator: 'Exists' }));
    assert.equal(
      failureOf(
        await requestOf(
          'selector: { matchLabels: { a: b }, matchExpressions: ["${... spec.more }"] }',
          {
            more: matchExpressions,
          },
        ),
      ),
      'limit-reached reads.x.selector.matchLabels: Expected at most 100 requirements at reads.x.selector.matchLabels, found "102"',
    );
  });

  test('that another object may still get is waited for', async () => {
    const plan = planOfThing(
      `  reads:
    - { id: x, apiVersion: v1, kind: Pod, selector: "\${ reads.web.spec.selector }" }
    - { id: web, apiVersion: apps/v1, kind: Deployment, name: web }
`,
    );
    const phase = phaseOf(plan);
    assert.deepEqual(await phase.readRequest('x'), { kind: 'waiting', on: ['reads.web'] });
    phase.setRead('web', present({ spec: { selector: { matchLabels: { a: 'b' } } } }));
    assert.deepEqual(givenBy(await phase.readRequest('x')), {
      by: 'selector',
      selector: requirements({ key: 'a', operator: 'In', values: ['b'] }),
      scope: { kind: 'own' },
    });
  });

  test('watches the whole kind, without a warning', () => {
    const [read] = planOfThing(
      '  reads: [{ id: x, apiVersion: v1, kind: Pod, selector: "${ spec.selector }" }]\n',
    ).reads;
    assert.deepEqual([read?.watchSelector, read?.indexKey], [undefined, undefined]);
  });
});
