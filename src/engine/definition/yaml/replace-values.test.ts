import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isJsonObject } from '#util/json.ts';
import { replaceValues } from './replace-values.ts';
import { parseYaml } from './yaml-text.ts';

const text = `# first
kind: A
spec: { size: 1 }
---
# second
kind: B
spec:
  size: 1 # comment
  names: ['x', "y"]
  text: |
    old
  after: true
`;
const isB = (document: unknown) => isJsonObject(document) && document.kind === 'B';

describe('definition/yaml replace values', () => {
  for (const [what, pointer, value, before, after] of [
    ['a scalar, the comment stays', '/spec/size', 2, 'size: 1 # comment', 'size: 2 # comment'],
    ['an item of a flow list', '/spec/names/1', 'z', `['x', "y"]`, `['x', "z"]`],
    ['a list by a map', '/spec/names', { a: 1 }, `['x', "y"]`, '{"a":1}'],
  ] as const) {
    test(what, () => {
      const at = text.lastIndexOf(before);
      const expected = text.slice(0, at) + after + text.slice(at + before.length);
      assert.equal(replaceValues(text, isB, [{ pointer, value }]), expected);
    });
  }

  for (const [what, pointer, value, after] of [
    ['a block text', '/spec/text', 'new', '  text: "new"\n  after: true\n'],
    ['a block list', '/spec/list', [1, { a: 2 }], '  list:\n    [1,{"a":2}]\n  map:\n'],
    ['a block map at the end', '/spec/map', { b: 1 }, '  map:\n    {"b":1}\n'],
  ] as const) {
    test(`${what} is replaced by a value in flow style`, () => {
      const blocks = `kind: B\nspec:\n  text: |\n    old\n  after: true\n  list:\n    - 1\n    - a: 1\n  map:\n    a: 1\n`;
      const replaced = replaceValues(blocks, isB, [{ pointer, value }]);
      assert.ok(replaced.includes(after), replaced);
      const { spec } = parseYaml(replaced) as unknown as { spec: Record<string, unknown> };
      assert.deepEqual(spec[pointer.slice('/spec/'.length)], value);
    });
  }

  test('a field whose name looks like a number, in quotes or not', () => {
    const data = 'kind: B\nspec: { "8080": 1, 9090: 2, on: 3 }\n';
    const values = { '8080': 5, '9090': 6, true: 7 };
    const replacements = Object.entries(values).map(([name, value]) => {
      return { pointer: `/spec/${name}`, value };
    });
    const expected = 'kind: B\nspec: { "8080": 5, 9090: 6, on: 7 }\n';
    assert.equal(replaceValues(data, isB, replacements), expected);
  });

  test('several at once', () => {
    const replacements = [
      { pointer: '/spec/after', value: false },
      { pointer: '/spec/size', value: 10 },
    ];
    const replaced = replaceValues(text, isB, replacements);
    assert.match(replaced, /size: 10 # comment[\s\S]*after: false\n$/);
    assert.match(replaced, /spec: \{ size: 1 \}/);
  });

  test('what does not exist is skipped', () => {
    assert.equal(replaceValues(text, isB, [{ pointer: '/spec/none', value: 1 }]), text);
    assert.equal(
      replaceValues(text, () => false, [{ pointer: '/spec/size', value: 2 }]),
      text,
    );
  });
});
