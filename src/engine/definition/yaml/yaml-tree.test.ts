import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readDocuments } from './read-documents.ts';
import { nodeAtSteps, placeAt } from './yaml-tree.ts';

function treeOf(text: string) {
  const tree = readDocuments(text, '', 'definition').documents.at(-1)?.tree();
  assert.ok(tree);
  return tree;
}

/** What is at `|||`: the path, whether it is a key, and the text of the key or value. */
function placeIn(marked: string) {
  const offset = marked.indexOf('|||');
  const text = marked.replace('|||', '');
  const place = placeAt(treeOf(text), offset);
  return place && [place.steps.join('/'), place.at, text.slice(place.start, place.end)];
}

describe('definition/yaml/yaml-tree', () => {
  test('what is nested too deeply to be read has no tree, and does not overflow the stack', () => {
    const nested = Array.from({ length: 1300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
    let node: ReturnType<typeof treeOf> | undefined = treeOf(`${nested} 1`);
    let depth = 0;
    for (; node?.kind === 'map'; depth++) node = node.entries[0]?.value;
    assert.ok(depth > 200 && depth < 300, String(depth));
  });

  for (const [marked, expected] of [
    ['a:\n  b|||: 1\n', ['a/b', 'key', 'b']],
    ['a:\n  b: 1|||2\n', ['a/b', 'value', '12']],
    ['a:\n  - x\n  - b: "y|||"\n', ['a/1/b', 'value', '"y"']],
    ['{ a: [1, |||2] }', ['a/1', 'value', '2']],
    ['a: |\n  one\n  t|||wo\n', ['a', 'value', '|\n  one\n  two\n']],
    ['a: &x 1\nb: *|||x\n', ['b', 'value', '*x']],
    ['a: 1\n---\nb: |||2\n', ['b', 'value', '2']],
    // Texts that are not finished.
    ['a:\n  b: 1\n  c|||', ['a/c', 'key', 'c']],
    ['a: { b: 1, c|||', ['a/c', 'key', 'c']],
    ['a: { b: "x|||', ['a/b', 'value', '"x']],
    ['a: { b: ${ x }, c: y|||', ['a/c', 'value', 'y']],
    ['a: 1\n  |||  \nb: 2', undefined],
    ['a:   |||', undefined],
  ] as const) {
    test(`finds the key or value in ${JSON.stringify(marked)}`, () => {
      assert.deepEqual(placeIn(marked), expected);
    });
  }

  test('scalars have their text and style', () => {
    const tree = treeOf('- "a\\n"\n- 5\n- |\n  b\n- true\n- &x y\n- *x\n');
    assert.ok(tree.kind === 'list');
    const scalars = tree.items.map((item) => item.kind === 'scalar' && [item.text, item.style]);
    assert.deepEqual(scalars, [
      ['a\n', 'quoted'],
      ['5', 'plain'],
      ['b\n', 'block'],
      ['', 'plain'],
      ['y', 'plain'],
      ['y', 'plain'],
    ]);
  });

  test('a field without a value has no node', () => {
    const tree = treeOf('a:\n  b:\n  c: 1\n');
    assert.equal(nodeAtSteps(tree, ['a', 'b']), undefined);
    assert.equal(nodeAtSteps(tree, ['a', 'c'])?.kind, 'scalar');
    assert.equal(nodeAtSteps(tree, ['a', 'c', 'd']), undefined);
  });
});
