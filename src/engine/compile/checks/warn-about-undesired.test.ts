import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileThing, configMap } from '../../../../test/support/thing-plan.ts';

/** Whether the definition is warned about, and about which readers. */
function warned(body: string): readonly string[] {
  return compileThing(body)
    .diagnostics.filter(({ message }) => message.includes('is false: it needs'))
    .map(({ message }) => message.replace(/ fails where .* it needs /, ': '));
}

const database = configMap('db', 'host: a', 'when: ${ spec.db.enabled }');
const reader = (value: string, more = '') =>
  `  children:\n${database}${configMap('app', `a: ${value}`, more)}`;

describe('compile/checks/warn-about-undesired', () => {
  for (const [what, body, expected] of [
    ['a value', reader('"${ children.db.metadata.name }"'), 'children.db.metadata.name'],
    ['a part of a text', reader('"db=${ children.db.data.host }"'), 'children.db.data.host'],
    ['a text of Handlebars', reader('"db={{ children.db.data.host }}"'), 'children.db.data.host'],
    ['an argument', reader('"${ $uppercase(children.db.data.host) }"'), 'children.db.data.host'],
    [
      'a value behind an unrelated condition',
      reader('"${ children.db.data.host }"', 'when: ${ spec.app.enabled }'),
      'children.db.data.host',
    ],
    [
      'a value behind a part of the condition',
      `  children:\n${configMap('db', 'host: a', 'when: ${ spec.db and spec.region }')}${configMap('app', 'a: "${ children.db.data.host }"', 'when: ${ spec.db }')}`,
      'children.db.data.host',
    ],
    [
      'a value of a child that never exists',
      `  children:\n${configMap('db', 'host: a', 'when: false')}${configMap('app', 'a: "${ children.db.data.host }"')}`,
      'children.db.data.host',
    ],
    [
      'a value through vars',
      `  vars: { host: "\${ children.db.data.host }" }\n${reader('"${ vars.host }"')}`,
      'children.db.data.host',
    ],
    [
      'the name of a read',
      `  reads: [{ id: r, apiVersion: v1, kind: ConfigMap, name: "\${ children.db.metadata.name }" }]\n${reader('"${ reads.r.data.x }"')}`,
      'children.db.metadata.name',
    ],
    [
      'the list of elements',
      reader('"${ $item }"', 'forEach: ${ $split(children.db.data.host, ",") }'),
      'children.db.data.host',
    ],
  ] as const)
    test(`warns about ${what}`, () =>
      assert.deepEqual(warned(body), [`Child "app": "${expected}"`]));

  test('warns about a patch, with position and hint', () => {
    const body = `  patches: [{ id: own, patch: { spec: { host: "\${ children.db.data.host }" } } }]\n  children:\n${database}`;
    const { diagnostics } = compileThing(body);
    assert.deepEqual(
      diagnostics.map(({ message, hint, path }) => ({ message, hint, path })),
      [
        {
          message:
            'Patch "own" fails where "when" of child "db" is false: it needs "children.db.data.host"',
          hint: 'Repeat that condition in the "when" of patch "own", or handle a missing value: "??", "$exists(children.db)" or "${? }"',
          path: '/spec/patches/0/patch/spec/host',
        },
      ],
    );
  });

  for (const [what, body] of [
    ['a default', reader('"${ children.db.data.host ?? \'none\' }"')],
    ['a test', reader('"${ $string($exists(children.db.data.host)) }"')],
    ['a branch', reader('"${ $exists(children.db) ? children.db.data.host : \'none\' }"')],
    [
      'a branch of its condition',
      reader('"${ spec.db.enabled ? children.db.data.host : \'none\' }"'),
    ],
    ['an optional value', reader('"${? children.db.data.host }"')],
    ['a block of Handlebars', reader('"{{#if children.db}}{{ children.db.data.host }}{{/if}}"')],
    ['the same condition', reader('"${ children.db.data.host }"', 'when: ${ spec.db.enabled }')],
    [
      'a narrower condition',
      reader('"${ children.db.data.host }"', 'when: ${ spec.db.enabled and spec.app.enabled }'),
    ],
    [
      'a condition on what is above or below',
      reader(
        '"${ children.db.data.host }"',
        'when: ${ spec.db.enabled = true and $exists(spec.db) }',
      ),
    ],
    [
      'the same condition through vars',
      `  vars: { enabled: "\${ spec.db.enabled }" }\n  children:\n${configMap('db', 'host: a', 'when: ${ vars.enabled }')}${configMap('app', 'a: "${ children.db.data.host }"', 'when: ${ spec.db.enabled }')}`,
    ],
    [
      'a condition on the child',
      reader('"${ children.db.data.host }"', 'when: ${ $exists(children.db) }'),
    ],
    [
      'no elements without it',
      reader('"${ children.db.data.host }"', 'forEach: "${ spec.db.enabled ? [1] : [] }"'),
    ],
    [
      'a child that always exists',
      `  children:\n${configMap('db', 'host: a', 'when: true')}${configMap('app', 'a: "${ children.db.data.host }"')}`,
    ],
    [
      'a list of elements',
      `  children:\n${configMap('db', 'host: a', 'when: ${ spec.db }\n      forEach: [a, b]').replace('name: db', 'name: "${ $item }"')}    - id: app
      template: { apiVersion: v1, kind: Pod, metadata: { name: a, finalizers: "\${ children.db.metadata.name }" }, spec: { containers: [{ name: a, image: b }] } }\n`,
    ],
    [
      'an optional read',
      `  reads: [{ id: r, apiVersion: v1, kind: ConfigMap, optional: true, name: "\${ children.db.metadata.name }" }]\n${reader('"${ reads.r.data.x }"')}`,
    ],
    [
      'the status and conditions',
      `  status: { host: "\${ children.db.data.host }" }\n  conditions: [{ type: Known, status: "\${ $exists(children.db) }", message: "db=\${ children.db.data.host }" }]\n  children:\n${database}`,
    ],
    ['the order alone', reader('b', 'after: [db]')],
  ] as const)
    test(`does not warn about ${what}`, () => assert.deepEqual(warned(body), []));
});
