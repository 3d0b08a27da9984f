import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Diagnostic } from '#definition';
import type { DefinitionPlan } from '#plan';
import { markdownOf, planLines, summaryOf } from './print-plan.ts';

const place = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' };

const shop: DefinitionPlan = {
  definition: 'shop',
  revision: '0123456789',
  resources: [
    { kind: 'Shop', namespace: 'default', name: 'idle', changes: [], unresolved: [] },
    {
      kind: 'Shop',
      namespace: 'default',
      name: 'one',
      changes: [
        {
          ...place,
          action: 'create',
          name: 'new',
          fields: [{ path: 'data', after: { a: '1', b: 'x\ny\n' } }],
        },
        {
          ...place,
          action: 'change',
          name: 'old',
          fields: [
            { path: 'data.a', before: '1', after: '2' },
            { path: 'data.text', before: 'a\nb\n', after: 'a\nc\n' },
            { path: 'data.lines', before: 'a\nb\nz\n', after: 'a\nc\nd\nz\n' },
            { path: 'data.gone', before: 'x' },
          ],
        },
        { ...place, action: 'change', name: 'internal', fields: [] },
        { ...place, action: 'delete', name: 'last', fields: [] },
        { ...place, action: 'replace', name: 'job', fields: [] },
      ],
      unresolved: [{ child: 'web', state: 'Waiting', message: 'Waiting for reads.a', line: 12 }],
    },
  ],
  heldDeletions: { count: 11, maxDeletions: 10 },
  problems: ['children (v1/Secret): forbidden'],
};

const idle: DefinitionPlan = {
  definition: 'idle',
  revision: 'abcdef0123',
  resources: [],
  problems: [],
};
const rejected: DefinitionPlan = {
  ...idle,
  rejection: { message: 'It would break stored resources', diagnostics: [] },
};

describe('cli: printed plans', () => {
  test('name the member cluster of resources, objects and CRDs', () => {
    const cluster = 'paris';
    const change = { ...place, cluster, action: 'create', name: 'a', fields: [] } as const;
    const plan: DefinitionPlan = {
      ...idle,
      memberCrds: [
        { action: 'change', cluster, apiVersion: 'v1', kind: 'Crd', name: 'x', fields: [] },
      ],
      resources: [
        {
          cluster,
          kind: 'Shop',
          namespace: 'default',
          name: 'one',
          changes: [change],
          unresolved: [],
        },
      ],
    };
    assert.deepEqual(planLines([plan], { hasColor: false }).slice(1, 4), [
      '  ~ Crd x in cluster "paris" (only metadata of Homeostat)',
      '  Shop default/one in cluster "paris"',
      '    + ConfigMap default/a in cluster "paris"',
    ]);
    assert.equal(summaryOf([plan]).changes, 2);
    assert.match(markdownOf([plan]), /<summary>Shop default\/one in cluster "paris"<\/summary>/);
  });

  test('show every change with its fields, and what is not certain', () => {
    assert.deepEqual(planLines([shop, idle], { hasColor: false }), [
      'Definition "shop" (revision 0123456789)',
      '  ! 11 objects would be deleted, more than controller.rollout.maxDeletions (10): none is deleted until you approve it',
      '  ! The plan may be incomplete: children (v1/Secret): forbidden',
      '  Shop default/one',
      '    + ConfigMap default/new',
      '        + data:',
      '        +   a: "1"',
      '        +   b: |',
      '        +     x',
      '        +     y',
      '    ~ ConfigMap default/old',
      '        ~ data.a: "1" -> "2"',
      '        ~ data.text: b -> c',
      '        ~ data.lines:',
      '        -   b',
      '        +   c',
      '        +   d',
      '        - data.gone: x',
      '    ~ ConfigMap default/internal (only metadata of Homeostat)',
      '    - ConfigMap default/last',
      '    ± ConfigMap default/job',
      '    ? child "web" (line 12) waits: Waiting for reads.a',
      '',
      'Definition "idle" (revision abcdef0123): no changes',
      '',
      '2 resources: 1 created, 2 changed, 1 deleted, 1 replaced; 1 unchanged',
    ]);
  });

  const loss = { ...place, kind: 'Claim', name: 'a', losesData: true, fields: [] } as const;
  const losing = {
    ...idle,
    resources: [
      {
        kind: 'Shop',
        name: 'one',
        changes: [
          { ...loss, action: 'delete', isLater: true },
          { ...loss, action: 'replace', name: 'b' },
        ],
        unresolved: [],
      },
    ],
  } as const;

  test('mark objects that hold data, and say whether their deletion needs approval', () => {
    const held = { ...losing, heldDeletions: { count: 2, maxDeletions: 10, withData: 2 } };
    assert.deepEqual(planLines([held], { hasColor: false }).slice(1, 5), [
      '  ! 2 objects would be deleted, 2 of them with data: none is deleted until you approve it',
      '  Shop one',
      '    - Claim default/a (holds data, when all children are ready)',
      '    ± Claim default/b (holds data)',
    ]);
    assert.equal(
      planLines([losing], { hasColor: false })[1],
      '  ! 2 objects with data would be deleted without approval, because the definition does not change',
    );
    const one = { count: 1, maxDeletions: 0, withData: 1 };
    assert.equal(
      planLines([{ ...losing, heldDeletions: one }], { hasColor: false })[1],
      '  ! 1 object would be deleted, more than controller.rollout.maxDeletions (0), 1 of them with data: none is deleted until you approve it',
    );
  });

  test('list objects that break new rules, and rules that are not checked', () => {
    const objects = [{ kind: 'Shop', namespace: 'default', name: 'a', message: 'At most ten' }];
    const plan = { ...idle, brokenRules: { count: 3, objects, unchecked: ['Not by you'] } };
    assert.deepEqual(planLines([plan], { hasColor: false }).slice(1, 5), [
      '  ! 3 objects break new rules of "admission", and can be changed only with a correction:',
      '  !   Shop default/a: At most ten',
      '  !   and 2 objects more',
      '  ! Not checked, because only a request decides: rule "Not by you"',
    ]);
  });

  test('count objects, and a change of a CRD', () => {
    const crd = {
      ...place,
      kind: 'CustomResourceDefinition',
      action: 'create',
      fields: [],
    } as const;
    assert.equal(summaryOf([{ ...idle, crd: { ...crd, name: 'shops' } }]).changes, 1);
    const { changes, resources, unchanged, failed } = summaryOf([shop]);
    assert.deepEqual(
      { changes, resources, unchanged, failed },
      { changes: 5, resources: 2, unchanged: 1, failed: 0 },
    );
  });

  test('count children that fail', () => {
    const failing = { child: 'web', state: 'Failed', message: 'Rejected: no', line: 12 } as const;
    const resource = { kind: 'Shop', name: 'one', changes: [], unresolved: [failing] };
    const plan = { ...idle, resources: [resource] };
    assert.equal(summaryOf([plan]).failed, 1);
    assert.deepEqual(planLines([plan], { hasColor: false }).slice(1), [
      '  Shop one',
      '    ? child "web" (line 12) fails: Rejected: no',
      '',
      '1 resource: 0 created, 0 changed, 0 deleted, 0 replaced; 1 unchanged; 1 failed',
    ]);
  });

  test('a rejected definition shows why, and no figures', () => {
    assert.deepEqual(planLines([rejected], { hasColor: false }), [
      'Definition "idle" (revision abcdef0123): rejected: It would break stored resources',
      '',
    ]);
  });

  test('have colors at a terminal', () => {
    const lines = planLines([shop], { hasColor: true });
    assert.ok(lines.includes('    \u001b[32m+ ConfigMap default/new\u001b[39m'));
  });

  test('have no character of the cluster that acts on a terminal', () => {
    const problems = ['a\u001b[31mb\u202e'];
    for (const hasColor of [false, true])
      assert.ok(
        planLines([{ ...shop, problems }], { hasColor }).includes(
          '  ! The plan may be incomplete: a\\u001b[31mb\\u202e',
        ),
      );
  });

  test('as Markdown are diffs: the first character of a line decides its color', () => {
    const [, change] = shop.resources;
    assert.ok(change);
    const text = markdownOf([{ ...shop, resources: [change] }]);
    assert.equal(
      text.slice(text.indexOf('```diff'), text.indexOf('\n</details>')),
      [
        '```diff',
        '+ ConfigMap default/new',
        '+     data:',
        '+       a: "1"',
        '+       b: |',
        '+         x',
        '+         y',
        '! ConfigMap default/old',
        '-     data.a: "1"',
        '+     data.a: "2"',
        '-     data.text: b',
        '+     data.text: c',
        '      data.lines:',
        '-       b',
        '+       c',
        '+       d',
        '-     data.gone: x',
        '! ConfigMap default/internal (only metadata of Homeostat)',
        '- ConfigMap default/last',
        '! ConfigMap default/job (deleted and created again)',
        '! child "web" (line 12) waits: Waiting for reads.a',
        '```',
      ].join('\n'),
    );
  });

  test('as Markdown keep a value with back-quotes inside its fence, and list the reasons of a rejection', () => {
    const fields = [{ path: 'data.readme', after: 'a\n```\nb\n' }];
    const changes = [{ ...place, action: 'create', name: 'new', fields }] as const;
    const resource = { kind: 'Shop', name: 'one', changes, unresolved: [] };
    const text = markdownOf([{ ...idle, resources: [resource] }]);
    assert.match(text, /\n````diff\n[\s\S]*\n````\n<\/details>$/);
    const diagnostic: Diagnostic = {
      severity: 'error',
      code: 'breaking-change',
      message: 'Field "a" is removed',
      file: 'shop.yaml',
      line: 3,
      column: 5,
      path: '',
    };
    const rejection = { message: 'It would break stored resources', diagnostics: [diagnostic] };
    assert.match(
      markdownOf([{ ...idle, rejection }]),
      /Rejected: It would break stored resources\n\n- shop\.yaml:3:5: Field "a" is removed$/,
    );
  });

  test('as Markdown fold each resource, and fit into a comment', () => {
    const text = markdownOf([shop, rejected]);
    assert.match(text, /^\*\*Plan\*\*: 2 resources: 1 created/);
    assert.match(
      text,
      /<details><summary>Shop default\/one<\/summary>\n\n```diff\n\+ ConfigMap default\/new\n/,
    );
    assert.match(text, /Rejected: It would break stored resources/);
    const many = Array.from({ length: 2_000 }, () => shop);
    const cut = markdownOf(many);
    assert.ok(cut.length < 65_536, `${cut.length} characters`);
    assert.match(cut, /\d+ more are not shown: run `homeostat plan`\.$/);
  });
});
