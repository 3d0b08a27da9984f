import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { ageText, clockText, matches, momentText } from './format.ts';
import { findNode, liveTree, nodesOf } from './live-tree.ts';
import { mergePatch } from './merge-patch.ts';
import { definitionSummary, summaryOf } from './object-summary.ts';
import { ownedFields } from './owned-fields.ts';
import { placeTree } from './tree-layout.ts';
import { yamlText } from './yaml-lines.ts';

function object(kind: string, name: string, more: object = {}, owner?: string): KubeObject {
  const ownerReferences =
    owner === undefined
      ? []
      : [{ apiVersion: 'v1', kind: 'Any', name: 'any', uid: owner, controller: true }];
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: 'ns', uid: name, ownerReferences },
    ...more,
  };
}

describe('web/model', () => {
  test('a resource has the state and the message of its condition Ready', () => {
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'Progressing', message: 'Waits' },
    ];
    const more = {
      status: { conditions: [...conditions, { type: 'Reconciling', status: 'True' }] },
    };
    assert.deepEqual(summaryOf(object('WebApp', 'a', more)), {
      health: 'progressing',
      state: 'Progressing',
      message: 'Waits',
    });
  });

  test('a rejected definition fails with its first diagnostic, although its previous revision runs', () => {
    const conditions = [
      {
        type: 'Ready',
        status: 'False',
        reason: 'Rejected',
        message: 'Revision a keeps running\nx.yaml:1:2: bad',
      },
      {
        type: 'Accepted',
        status: 'False',
        reason: 'Rejected',
        message: 'x.yaml:1:2: bad\nx.yaml:3:4: worse',
      },
    ];
    const summary = definitionSummary(
      object('OperatorDefinition', 'a', {
        status: { conditions, apiVersion: 'x.io/v1', kind: 'X', instances: 3 },
      }),
    );
    assert.deepEqual(
      [
        summary.health,
        summary.state,
        summary.message,
        summary.group,
        summary.kind,
        summary.resources,
      ],
      ['failing', 'Rejected', 'x.yaml:1:2: bad', 'x.io', 'X', 3],
    );
  });

  test('the live tree has all owned objects, and the children that do not exist with the reason', () => {
    const status = {
      children: [
        { id: 'web', apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'web', state: 'Ready' },
        {
          id: 'db',
          apiVersion: 'v1',
          kind: 'Service',
          namespace: 'ns',
          name: 'db',
          state: 'Waiting',
          message: 'Waits for web',
        },
      ],
    };
    const root = liveTree(
      object('App', 'root', { status }),
      [object('Pod', 'web', {}, 'root'), object('Log', 'l', {}, 'web')],
      { isFolded: true },
    );
    assert.deepEqual(
      nodesOf(root).map(({ id }) => id),
      ['App/ns/root', 'Pod/ns/web', 'Log/ns/l', 'Service/ns/db'],
    );
    const absent = findNode(root, 'Service/ns/db');
    assert.deepEqual(
      [absent?.object, absent?.state, absent?.message],
      [undefined, 'Waiting', 'Waits for web'],
    );
  });

  test('a long list of children of one kind is folded, and failing ones are kept', () => {
    const pods = Array.from({ length: 50 }, (_, index) =>
      object(
        'Pod',
        `p${index}`,
        { status: { phase: index === 49 ? 'Failed' : 'Running' } },
        'root',
      ),
    );
    const root = liveTree(object('App', 'root'), pods, { isFolded: true });
    assert.deepEqual([root.children.length, root.hidden], [12, 38]);
    assert.ok(findNode(root, 'Pod/ns/p49'));
    assert.equal(liveTree(object('App', 'root'), pods, { isFolded: false }).children.length, 50);
  });

  test('a tree has a column for each level, and a parent is beside the middle of its children, or in sight', () => {
    interface Leaf {
      readonly name: string;
      readonly children: readonly Leaf[];
    }
    const leaf = (name: string): Leaf => ({ name, children: [] });
    const layout = placeTree<Leaf>(
      { name: 'root', children: [leaf('a'), leaf('b')] },
      { nodeWidth: 100, nodeHeight: 40, columnGap: 20, rowGap: 10 },
    );
    assert.deepEqual(
      layout.nodes.map(({ node, x, y }) => [node.name, x, y]),
      [
        ['root', 0, 25],
        ['a', 120, 0],
        ['b', 120, 50],
      ],
    );
    assert.deepEqual([layout.width, layout.height], [220, 90]);
    const many = Array.from({ length: 100 }, (_, at) => leaf(`c${at}`));
    const tall = placeTree<Leaf>(
      { name: 'root', children: many },
      { nodeWidth: 100, nodeHeight: 40, columnGap: 20, rowGap: 10 },
    );
    assert.equal(tall.nodes[0]?.y, 250);
  });

  test('fields have their owners and values, also of items of lists', () => {
    const managedFields = [
      {
        manager: 'a',
        operation: 'Apply',
        fieldsV1: { 'f:spec': { 'f:items': { 'k:{"name":"x"}': { '.': {}, 'f:size': {} } } } },
      },
      {
        manager: 'b',
        operation: 'Update',
        subresource: 'status',
        fieldsV1: { 'f:status': { 'f:ok': {} } },
      },
    ];
    const of = object('X', 'a', {
      spec: { items: [{ name: 'x', size: 3 }] },
      status: { ok: true },
    });
    assert.deepEqual(
      ownedFields({ ...of, metadata: { ...of.metadata, managedFields } as KubeObject['metadata'] }),
      [
        { path: 'spec.items[name=x].size', value: '3', owners: ['a'] },
        { path: 'status.ok', value: 'true', owners: ['b (status)'] },
      ],
    );
  });

  for (const [before, after, expected] of [
    [{ a: 1 }, { a: 1 }, undefined],
    [{ a: 1, b: 2 }, { a: 3 }, { a: 3, b: null }],
    [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 3 } }],
    [{ a: [1, 2] }, { a: [1] }, { a: [1] }],
    [{}, { a: { b: 1 } }, { a: { b: 1 } }],
  ] as const)
    test(`the merge patch from ${JSON.stringify(before)} to ${JSON.stringify(after)}`, () => {
      assert.deepEqual(mergePatch(before, after), expected);
    });

  test('values are printed as YAML that quotes what would be read as another type', () => {
    const value = {
      a: 'x',
      b: 'true',
      c: '1',
      d: [{ e: 1, f: [] }, 'g: h'],
      i: 'two\nlines\n',
      j: {},
      'k l': null,
    };
    assert.equal(
      yamlText(value),
      'a: x\nb: "true"\nc: "1"\nd:\n- e: 1\n  f: []\n- "g: h"\ni: |\n  two\n  lines\nj: {}\n"k l": null',
    );
  });

  test('YAML that is copied is the object', () => {
    for (const text of [
      ...['two\nlines', 'two\nlines\n', 'more\n\n', '  first\nsecond', '\nfirst', '# a\nb', '\n'],
      ...[
        'a\n  b\n\nc',
        'tab\tand\r\nreturn',
        '- a\n- b',
        'a: b',
        '.5',
        '.inf',
        '.nan',
        './a',
        'y',
      ],
      ...[
        '',
        ' a',
        'a ',
        '1',
        '1e3',
        '0x1',
        'null',
        '~',
        '2026-11-26',
        'a #b',
        '"',
        "'",
        '|',
        '---',
        '...',
      ],
      ...['{{ x }}', '\u2028\n', '\u0085\n\u0001', '*a', '&a', '!a', '%a', '@a', '=', '<<'],
    ]) {
      const value = { a: text, list: [text, { b: text }], [text]: 1, nested: { '': text, c: [] } };
      assert.deepEqual(parseYaml(`${yamlText(value)}\n`), value, JSON.stringify(text));
    }
  });

  test('times of another day have their date, and the time zone is shown', () => {
    const at = new Date(2026, 10, 24, 14, 2, 1);
    const zone = /^2026-11-24 14:02:01 UTC[+-]\d\d:\d\d$/;
    const time = at.toISOString();
    assert.equal(clockText(time, new Date(2026, 10, 24, 23, 59).getTime()), '14:02:01');
    assert.equal(clockText(time, new Date(2026, 10, 25).getTime()), '2026-11-24 14:02:01');
    assert.match(momentText(time), zone);
    assert.equal(clockText('never', 0) + momentText(''), '');
  });

  test('ages are short, and a search matches all of its words in any case', () => {
    const now = Date.parse('2026-01-02T00:00:00Z');
    for (const [time, age] of [
      ['2026-01-01T23:59:50Z', '10 s'],
      ['2026-01-01T23:57:00Z', '3 min'],
      ['2026-01-01T00:00:00Z', '24 h'],
      ['2025-12-25T00:00:00Z', '8 d'],
      [undefined, ''],
    ] as const)
      assert.equal(ageText(time, now), age);
    assert.equal(matches('WEB not', ['WebApp', 'shop/site', 'NotReady']), true);
    assert.equal(matches('web db', ['WebApp']), false);
  });
});
