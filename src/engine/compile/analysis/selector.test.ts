import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  compileThing,
  failureOf,
  givenBy,
  phaseOf,
  planOfThing,
  thing,
} from '../../../../test/support/thing-plan.ts';

const vars = `  vars:
    labels: { app: web, instance: "\${ metadata.name }", version: 2 }
    nested: { pod: { labels: "\${ vars.labels }" } }
    whole: \${ spec.labels }
    partly: { a: x, b: "\${ spec.b }" }
    keyed: { "\${ metadata.name }": a }
`;

function body(selector: string): string {
  return `${vars}  reads: [{ id: pods, apiVersion: v1, kind: Pod, selector: ${selector} }]\n`;
}

describe('compile/analysis/selector', () => {
  const narrowed: readonly (readonly [string, string, string | undefined, string | undefined])[] = [
    ['literal labels', '{ matchLabels: { app: web, "a.b/c": "1" } }', 'app=web,a.b/c=1', undefined],
    [
      'a computed value',
      '{ matchLabels: { app: web, of: "${ metadata.name }" } }',
      'app=web,of',
      'of',
    ],
    [
      'two computed values',
      '{ matchLabels: { a: "${ spec.a }", b: "x-${ spec.b }" } }',
      'a,b',
      'a',
    ],
    [
      'a var that is written out',
      '{ matchLabels: "${ vars.labels }" }',
      'app=web,instance,version=2',
      'instance',
    ],
    [
      'a var within a var',
      '{ matchLabels: "${ vars.nested.pod.labels }" }',
      'app=web,instance,version=2',
      'instance',
    ],
    ['a var as a value', '{ matchLabels: { app: "${ vars.labels.app }" } }', 'app', 'app'],
    [
      'literal expressions',
      '{ matchLabels: { app: web }, matchExpressions: [{ key: a, operator: In, values: [x, w] }, { key: b, operator: NotIn, values: [z] }, { key: c, operator: Exists }, { key: d, operator: DoesNotExist }] }',
      'app=web,a in (x,w),b notin (z),c,!d',
      undefined,
    ],
    [
      'expressions of which one is computed',
      '{ matchExpressions: [{ key: a, operator: In, values: ["${ spec.a }"] }, { key: b, operator: Exists }] }',
      'b',
      undefined,
    ],
    ['all', 'all', undefined, undefined],
  ];
  for (const [what, selector, watchSelector, indexKey] of narrowed) {
    test(`a watch is narrowed by ${what}`, () => {
      const [read] = planOfThing(body(selector)).reads;
      assert.equal(read?.watchSelector, watchSelector);
      assert.equal(read?.indexKey, indexKey);
    });
  }

  for (const selector of [
    '{ matchLabels: "${ vars.whole }" }',
    '{ matchLabels: "${ vars.keyed }" }',
    '{ matchLabels: "${ spec.labels }" }',
    '{ matchLabels: "${ $merge([vars.labels]) }" }',
    '{ matchExpressions: [{ key: a, operator: In, values: "${ spec.a }" }] }',
  ]) {
    test(`a completely computed selector gives a warning: ${selector}`, () => {
      const { plan, diagnostics } = compileThing(body(selector));
      assert.deepEqual(
        diagnostics.map(({ severity, code, path }) => [severity, code, path]),
        [['warning', 'suspicious-expression', '/spec/reads/0/selector']],
      );
      assert.equal(plan?.reads[0]?.watchSelector, undefined);
    });
  }

  async function request(selector: string, spec: unknown) {
    const { plan } = compileThing(body(selector));
    assert.ok(plan);
    return phaseOf(plan, { resource: thing(spec) }).readRequest('pods');
  }

  test('a request contains the resolved pairs', async () => {
    assert.deepEqual(givenBy(await request('{ matchLabels: "${ vars.labels }" }', {})), {
      by: 'selector',
      selector: {
        matchLabels: { app: 'web', instance: 'one', version: '2' },
        matchExpressions: [],
      },
      scope: { kind: 'own' },
    });
    const selector = '{ matchExpressions: [{ key: a, operator: In, values: ["${ spec.a }", w] }] }';
    assert.deepEqual(givenBy(await request(selector, { a: 'x' })), {
      by: 'selector',
      selector: {
        matchLabels: {},
        matchExpressions: [{ key: 'a', operator: 'In', values: ['x', 'w'] }],
      },
      scope: { kind: 'own' },
    });
    assert.deepEqual(givenBy(await request('all', {})), {
      by: 'selector',
      selector: { matchLabels: {}, matchExpressions: [] },
      scope: { kind: 'own' },
    });
  });

  const failing: readonly (readonly [string, string, unknown, string])[] = [
    [
      'a missing value',
      '{ matchLabels: { app: web, a: "${ spec.a }" } }',
      {},
      'missing-value reads.pods.selector.matchLabels.a: Missing value "spec.a"',
    ],
    [
      'missing labels',
      '{ matchLabels: "${ spec.labels }" }',
      {},
      'missing-value reads.pods.selector.matchLabels: Missing value "spec.labels"',
    ],
    [
      'empty labels',
      '{ matchLabels: "${ spec.labels }" }',
      { labels: {} },
      'missing-value reads.pods.selector.matchLabels: Expected a selector with at least one requirement, found an empty one',
    ],
    [
      'a value that no label has',
      '{ matchLabels: { a: "${ spec.a }" } }',
      { a: 'a b' },
      'wrong-type reads.pods.selector.matchLabels: Expected a valid value of label "a" at reads.pods.selector.matchLabels, found "a b"',
    ],
    [
      'a value that would widen the selector',
      '{ matchLabels: { a: "${ spec.a }" } }',
      { a: 'x,b=y' },
      'wrong-type reads.pods.selector.matchLabels: Expected a valid value of label "a" at reads.pods.selector.matchLabels, found "x,b=y"',
    ],
    [
      'a text for labels',
      '{ matchLabels: "${ spec.labels }" }',
      { labels: 'a' },
      'wrong-type reads.pods.selector.matchLabels: Expected a map at reads.pods.selector.matchLabels, found "a"',
    ],
    [
      'a label that is missing in a var',
      '{ matchLabels: "${ vars.partly }" }',
      {},
      'missing-value reads.pods.selector.matchLabels: Missing value for label "b"',
    ],
    [
      'a missing requirement',
      '{ matchExpressions: [{ key: a, operator: Exists }, "${... spec.more }"] }',
      {},
      'missing-value reads.pods.selector.matchExpressions[1]: Missing value "spec.more"',
    ],
    [
      'requirements that are none',
      '{ matchExpressions: ["${... spec.more }"] }',
      { more: [] },
      'missing-value reads.pods.selector.matchExpressions: Expected a selector with at least one requirement, found an empty one',
    ],
    [
      'no values',
      '{ matchExpressions: [{ key: a, operator: In, values: "${ spec.a }" }] }',
      { a: [] },
      'wrong-type reads.pods.selector.matchExpressions: Expected requirements with key, operator and values at reads.pods.selector.matchExpressions, found a list',
    ],
  ];
  for (const [what, selector, spec, message] of failing) {
    test(`${what} is an error, never a wider selector`, async () => {
      assert.equal(failureOf(await request(selector, spec)), message);
    });
  }

  for (const name of ['a/b', '..', '', 'a%2fb']) {
    test(`"${name}" is not a valid name to read`, async () => {
      const plan = planOfThing(
        '  reads: [{ id: a, apiVersion: v1, kind: Pod, name: "${ spec.name }" }]\n',
      );
      const rendered = await phaseOf(plan, { resource: thing({ name }) }).readRequest('a');
      assert.equal(
        failureOf(rendered),
        `wrong-type reads.a.name: Expected an object name at reads.a.name, found "${name}"`,
      );
    });
  }
});
