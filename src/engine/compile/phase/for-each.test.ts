import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  compileThing,
  failureOf,
  givenBy,
  phaseOf,
  planOfThing,
  present,
  thing,
} from '../../../../test/support/thing-plan.ts';
import type { Rendered } from '../operator-plan.ts';

async function elementsOf(forEach: string, spec: unknown): Promise<Rendered<readonly unknown[]>> {
  const plan = planOfThing(`  vars:
    items: \${ spec.items[on] }
  reads: [{ id: pods, apiVersion: v1, kind: Pod, selector: all }]
  children:
    - id: each
      forEach: ${forEach.startsWith('$') ? `'${forEach}'` : forEach}
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "x-\${ $index }" } }
`);
  const phase = phaseOf(plan, { resource: thing(spec) });
  phase.setRead('pods', present([]));
  const rendered = await phase.elements('each');
  if (rendered.kind !== 'value') return rendered;
  return { kind: 'value', value: rendered.value.map(({ item }) => item) };
}

function bodyOf(vars: string, forEach: string): string {
  return `  vars: { ${vars} }
  children:
    - id: each
      forEach: '${forEach}'
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "x-\${ $index }" } }
`;
}

const on = { on: true };
const off = { on: false };

describe('compile/phase/for-each', () => {
  const rows: readonly (readonly [string, string, unknown, readonly unknown[]])[] = [
    ['a list gives its elements', '${ spec.items }', { items: ['a', 'b'] }, ['a', 'b']],
    ['the empty list gives none', '${ spec.items }', { items: [] }, []],
    ['a single value is a list of one', '${ spec.items }', { items: 'a' }, ['a']],
    ['a list written out', '[a, "${ spec.name }", 3]', { name: 'b' }, ['a', 'b', 3]],
    ['spread elements', '[a, "${... spec.items }"]', { items: ['b', 'c'] }, ['a', 'b', 'c']],
    ['spread elements of an empty list', '[a, "${... spec.items }"]', { items: [] }, ['a']],
    ['a filter that yields something', '${ spec.items[on] }', { items: [on, off] }, [on]],
    ['a filter that yields nothing', '${ spec.items[on] }', { items: [off] }, []],
    ['a filter by a field that no element has', '${ spec.items[gone] }', { items: [off] }, []],
    ['a filter over the empty list', '${ spec.items[on] }', { items: [] }, []],
    ['a map that yields nothing', '${ spec.items.name }', { items: [off] }, []],
    [
      '$filter that yields nothing',
      '${ $filter(spec.items, function($i) { $i.on }) }',
      { items: [off] },
      [],
    ],
    [
      '$map over the empty list',
      '${ $map(spec.items, function($i) { $i.on }) }',
      { items: [] },
      [],
    ],
    ['a range', '${ [1..spec.size] }', { size: 2 }, [1, 2]],
    ['a range that ends before it begins', '${ [1..spec.size] }', { size: 0 }, []],
    ['a default for a missing list', '${ spec.items ?? [] }', {}, []],
    ['a filter over a default', '${ (spec.items ?? [])[on] }', {}, []],
    [
      'a filter that yields nothing before a default',
      '${ (spec.items ?? [])[on] }',
      { items: [off] },
      [],
    ],
    [
      'a filter that yields something before a default',
      '${ (spec.items ?? [])[on] }',
      { items: [on] },
      [on],
    ],
    ['a map over a default', '${ (spec.items ?? []).name }', {}, []],
    ['$filter over a default', '${ $filter(spec.items ?? [], function($i) { $i.on }) }', {}, []],
    ['a filter over a branch', '${ (spec.on ? spec.items : [])[on] }', { on: false }, []],
    ['a default within a range', '${ [1..(spec.size ?? 0)] }', {}, []],
    ['a branch that says there are none', '${ spec.on ? spec.items : [] }', { on: false }, []],
    [
      'a range in the branch that was not taken',
      '${ spec.on ? [0..spec.n - 1] : [] }',
      { on: false },
      [],
    ],
    [
      'a list constructor in the branch that was not taken',
      '${ spec.on ? [spec.items.name] : [] }',
      { on: false },
      [],
    ],
    [
      'a range in the branch that was taken',
      '${ spec.on ? [1..spec.n] : [] }',
      { on: true, n: 2 },
      [1, 2],
    ],
    [
      'a branch within a branch that was not taken',
      '${ spec.on ? (spec.ha ? [1..spec.n] : [1]) : [] }',
      { on: true, ha: false },
      [1],
    ],
    [
      'a filter that yields nothing in the branch that was taken',
      '${ spec.on ? spec.items[on] : [] }',
      { on: true, items: [off] },
      [],
    ],
    [
      'a range as a default that is not needed',
      '${ spec.items ?? [1..spec.n] }',
      { items: [] },
      [],
    ],
    [
      'a field of an element in a branch',
      '${ spec.on ? [{ "a": spec.a }] : [] }',
      { on: true },
      [{}],
    ],
    ['a read list without objects', '${ reads.pods.metadata.name }', {}, []],
    ['a test whether a list is there', '${ $exists(spec.items) ? spec.items : [] }', {}, []],
    ['elements with a field that is missing', '${ [{ "a": spec.a }] }', {}, [{}]],
    ['a list of lists', '${ [spec.items[on]] }', { items: [off] }, []],
    [
      'a sorted list',
      '${ spec.items^(name) }',
      { items: [{ name: 'b' }, { name: 'a' }] },
      [{ name: 'a' }, { name: 'b' }],
    ],
  ];
  for (const [what, forEach, spec, expected] of rows) {
    test(`${what}: ${forEach}`, async () => {
      assert.deepEqual(givenBy(await elementsOf(forEach, spec)), expected);
    });
  }

  const throughVars: readonly (readonly [string, string, string, string])[] = [
    ['a range', 'names: "${ [0..spec.size - 1] }"', '${ vars.names }', 'spec.size'],
    ['a list constructor', 'names: "${ [spec.items.name] }"', '${ vars.names }', 'spec.items.name'],
    ['a spread', 'names: ["${... spec.items }"]', '${ vars.names }', 'spec.items'],
    [
      'one of two lists',
      'names: "${ $append(spec.a, spec.items) }"',
      '${ vars.names }',
      'spec.items',
    ],
    [
      'a field of a var',
      'm: { other: "${ spec.none }", names: "${ [0..spec.size - 1] }" }',
      '${ vars.m.names }',
      'spec.size',
    ],
    [
      'a var of a var',
      'names: "${ $append(vars.more, []) }", more: "${ [1..spec.size] }"',
      '${ vars.names }',
      'spec.size',
    ],
    [
      'a mapped var',
      'names: "${ [0..spec.size - 1] }"',
      '${ $map(vars.names, $string) }',
      'spec.size',
    ],
    [
      'a range in the branch that the var takes',
      'names: "${ spec.on ? [0..spec.n - 1] : [] }"',
      '${ vars.names }',
      'spec.n',
    ],
    [
      'a range in a var in the branch that is taken',
      'names: "${ [0..spec.n - 1] }"',
      '${ spec.on ? vars.names : [] }',
      'spec.n',
    ],
    [
      'a list constructor in a var in the branch that is taken',
      'names: "${ [spec.items.name] }"',
      '${ spec.on ? vars.names : [] }',
      'spec.items.name',
    ],
    [
      'a branch of a var of a branch of a var',
      'names: "${ spec.on ? vars.more : [] }", more: "${ spec.on ? [1..spec.n] : [] }"',
      '${ spec.on ? vars.names : [] }',
      'spec.n',
    ],
    ['a filtered var', 'names: "${ [0..spec.n - 1] }"', '${ vars.names[$ > 0] }', 'spec.n'],
    ['a var from the root', 'names: "${ [0..spec.n - 1] }"', '${ $$.vars.names }', 'spec.n'],
  ];
  for (const [what, vars, forEach, path] of throughVars) {
    test(`${what} behind a missing var is reported, not treated as an empty list: ${vars}`, async () => {
      const plan = planOfThing(bodyOf(vars, forEach));
      const phase = phaseOf(plan, { resource: thing({ on: true, a: ['x'] }) });
      assert.ok(failureOf(await phase.elements('each')).includes(`Missing value "${path}"`));
    });
  }

  const notTaken: readonly (readonly [string, string, string])[] = [
    [
      'the branch that a var does not take',
      'names: "${ spec.on ? [0..spec.n - 1] : [] }"',
      '${ vars.names }',
    ],
    [
      'a var in the branch that is not taken',
      'names: "${ [0..spec.n - 1] }"',
      '${ spec.on ? vars.names : [] }',
    ],
    [
      'a var in the branch that a var does not take',
      'names: "${ spec.on ? vars.more : [] }", more: "${ [1..spec.n] }"',
      '${ vars.names }',
    ],
  ];
  for (const [what, vars, forEach] of notTaken) {
    test(`${what} may have missing values: { ${vars} } ${forEach}`, async () => {
      const phase = phaseOf(planOfThing(bodyOf(vars, forEach)), { resource: thing({ on: false }) });
      assert.deepEqual(givenBy(await phase.elements('each')), []);
    });
  }

  const range = '[0..spec.n - 1]';
  const indirect: readonly (readonly [string, string, string])[] = [
    [range, 'vars.*', '<name>'],
    [range, 'vars.(names)', 'names'],
    [range, '[vars].names', 'names'],
    [range, '(vars).names', 'names'],
    [range, 'vars[names].names', 'names'],
    [range, '$lookup(vars, "names")', 'names'],
    [range, '( $v := vars; $v.names )', 'names'],
    [range, '( $r := $$; $r.vars.names )', 'names'],
    [range, 'spec.groups.$$.vars.names', 'names'],
    ["$lookup(vars, 'other')", 'vars.names', 'other'],
  ];
  for (const [names, source, name] of indirect) {
    test(`vars are read by their paths only: ${source}, names: ${names}`, () => {
      const vars = `names: "\${ ${names} }", other: "\${ ${range} }"`;
      const { plan, diagnostics } = compileThing(bodyOf(vars, `\${ ${source} }`));
      assert.equal(plan, undefined);
      assert.deepEqual(
        diagnostics.map(({ code, message, hint }) => [code, message, hint]),
        [
          [
            'forbidden-expression',
            '"forEach" must read each var by its path',
            `Write "vars.${name}"`,
          ],
        ],
      );
    });
  }

  test('vars may be read in a filter and in a function, and their elements in any way', () => {
    const sources = [
      'spec.items[name in $$.vars.names]',
      '$filter(spec.items, function($i) { $i.name in vars.names })',
      'vars.names.*',
      '( $v := vars.names; $v[0] )',
      '$lookup(vars.names, "a")',
    ];
    for (const source of sources)
      planOfThing(bodyOf('names: "${ spec.names }"', `\${ ${source} }`));
  });

  test('a field of a var that is not part of the list may be missing', async () => {
    const plan =
      planOfThing(`  vars: { m: { other: "\${ spec.none }", names: "\${ [1..spec.size] }" } }
  children:
    - id: each
      forEach: '\${ vars.m.names }'
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "x-\${ $index }" } }
`);
    const phase = phaseOf(plan, { resource: thing({ size: 2 }) });
    assert.equal(givenBy(await phase.elements('each')).length, 2);
  });

  const missing: readonly (readonly [string, string, unknown, string])[] = [
    ['a plain path', '${ spec.items }', {}, 'spec.items'],
    ['a plain path that is null', '${ spec.items }', { items: null }, 'spec.items'],
    ['a path above a list', '${ spec.groups.items }', {}, 'spec.groups.items'],
    ['what is filtered', '${ spec.items[on] }', {}, 'spec.items'],
    ['what is filtered and mapped', '${ spec.items[on].name }', {}, 'spec.items'],
    ['what is sorted', '${ spec.items^(name) }', {}, 'spec.items'],
    ['the end of a range', '${ [0..spec.replcas - 1] }', { replicas: 3 }, 'spec.replcas'],
    ['the end of a range among others', '${ $append([0], [1..spec.size]) }', {}, 'spec.size'],
    ['one of two lists', '${ $append(spec.a, spec.b) }', { a: [1] }, 'spec.b'],
    ['one of two items', '${ [spec.a, spec.b] }', { a: 1 }, 'spec.b'],
    ['what decides', '${ spec.ha ? [1, 2] : [1] }', {}, 'spec.ha'],
    ['an argument', '${ $filter(spec.items, function($i) { $i.on }) }', {}, 'spec.items'],
    ['what is piped', '${ spec.items ~> $map(function($i) { $i.on }) }', {}, 'spec.items'],
    ['what is put into a list', '${ [spec.items] }', {}, 'spec.items'],
    ['the branch that was taken', '${ spec.on ? spec.items : [] }', { on: true }, 'spec.items'],
    [
      'the condition of an empty branch',
      '${ spec.on ? spec.items : [] }',
      { items: ['a'] },
      'spec.on',
    ],
    ['a range in the branch that was taken', '${ spec.on ? [0..spec.n - 1] : [] }', on, 'spec.n'],
    [
      'a list constructor in the branch that was taken',
      '${ spec.on ? [spec.items.name] : [] }',
      on,
      'spec.items.name',
    ],
    [
      'one of two lists in the branch that was taken',
      '${ spec.on ? $append(spec.a, spec.b) : [] }',
      { on: true, a: ['x'] },
      'spec.b',
    ],
    [
      'a range in the other branch',
      '${ spec.off ? [] : [0..spec.n - 1] }',
      { off: false },
      'spec.n',
    ],
    [
      'a range in a branch within a branch',
      '${ spec.on ? (spec.ha ? [1..spec.n] : [1]) : [] }',
      { on: true, ha: true },
      'spec.n',
    ],
    [
      'the condition within a branch',
      '${ spec.on ? (spec.ha ? [1..spec.n] : []) : [] }',
      on,
      'spec.ha',
    ],
    [
      'what is filtered in a list in the branch that was taken',
      '${ spec.on ? [spec.items[on].name] : [] }',
      on,
      'spec.items',
    ],
    ['a range as a default that is needed', '${ spec.items ?? [1..spec.n] }', {}, 'spec.n'],
    ['a range behind ?: that is needed', '${ spec.on ?: [1..spec.n] }', {}, 'spec.n'],
    ['an item and its default', '${ [spec.a ?? spec.b] }', {}, 'spec.b'],
    ['an item of a list with a branch', '["${ spec.on ? [1..spec.n] : [] }"]', on, 'spec.n'],
    ['a var without a result', '${ vars.items }', {}, 'vars.items'],
    ['an item of a list', '[a, "${ spec.name }"]', {}, 'spec.name'],
    ['a spread item of a list', '[a, "${... spec.items }"]', {}, 'spec.items'],
  ];
  for (const [what, forEach, spec, path] of missing) {
    test(`${what} that is missing is an error: ${forEach}`, async () => {
      const rendered = await elementsOf(forEach, spec);
      const hint = forEach === `\${ ${path} }` ? `. If it is optional, write "${path} ?? []"` : '';
      const end = `: Missing value "${path}"${hint}`;
      assert.match(failureOf(rendered), /^missing-value /);
      assert.ok(failureOf(rendered).endsWith(end), failureOf(rendered));
    });
  }

  const without: readonly (readonly [string, string, unknown])[] = [
    ['a conditional without the branch that it takes', '${ spec.on ? [1] }', { on: false }],
    ['a look-up that finds nothing', '${ $lookup(spec, "items") }', {}],
    ['a path in brackets', '${ spec.(items) }', {}],
  ];
  for (const [what, forEach, spec] of without) {
    test(`${what} has no result, which is not treated as an empty list: ${forEach}`, async () => {
      const failure = failureOf(await elementsOf(forEach, spec));
      assert.match(failure, /^missing-value .*Expected a list, found no result$/);
    });
  }

  test('more than 1,000 elements are rejected', async () => {
    assert.equal(givenBy(await elementsOf('${ [1..spec.size] }', { size: 1000 })).length, 1000);
    assert.equal(
      failureOf(await elementsOf('${ [1..spec.size] }', { size: 1001 })),
      'limit-reached forEach: Expected at most 1000 elements, found "1001"',
    );
  });

  test('a child without forEach has one element', async () => {
    const plan = planOfThing(
      '  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }]\n',
    );
    assert.deepEqual(givenBy(await phaseOf(plan).elements('a')), [{ item: undefined, index: 0 }]);
  });
});
