import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dedent } from '../../../../test/support/diagnostics.ts';
import { readDocuments } from './read-documents.ts';

const text = dedent`
  # comment
  metadata: { name: "a", "odd/na~me": 1 }
  spec:
    list:
      - first
      - id: second
        empty:
    anchored: &a { inner: "${'${ x }'}" }
    alias: *a
  ---
  next: 1
`;

function sourceOf(index: number) {
  const document = readDocuments(text, 'a.yaml', 'definition').documents[index];
  assert.ok(document);
  return document.source;
}

describe('definition/yaml/node-source-map', () => {
  const rows = [
    ['', [2, 1], [2, 1]],
    ['/metadata/name', [2, 19], [2, 13]],
    ['/metadata/odd~1na~0me', [2, 37], [2, 24]],
    ['/spec', [4, 3], [3, 1]],
    ['/spec/list/0', [5, 7], [5, 7]],
    ['/spec/list/1', [6, 7], [6, 7]],
    ['/spec/list/1/id', [6, 11], [6, 7]],
    ['/spec/list/1/empty', [7, 7], [7, 7]],
    ['/spec/alias/inner', [8, 25], [8, 18]],
    ['/spec/list/1/nothing/there', [6, 7], [6, 7]],
    ['/spec/list/9', [5, 5], [4, 3]],
    ['/spec/nothing', [4, 3], [3, 1]],
  ] as const;
  for (const [pointer, value, key] of rows) {
    test(`the value and the key of "${pointer}" are found`, () => {
      const source = sourceOf(0);
      assert.deepEqual(source.valueAt(pointer), { line: value[0], column: value[1] });
      assert.deepEqual(source.keyAt(pointer), { line: key[0], column: key[1] });
    });
  }

  test('positions inside an alias are those at its anchor', () => {
    assert.deepEqual(sourceOf(0).insideAt('/spec/alias/inner', 3), { line: 8, column: 29 });
  });

  test('a later document has the lines of the file', () => {
    assert.deepEqual(sourceOf(1).valueAt('/next'), { line: 11, column: 7 });
  });

  test('the first of two fields with the same name is found, also in a large map', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `  k${index}: 1`).join('\n');
    const [document] = readDocuments(`m:\n${many}\n  k7: 2`, 'a.yaml', 'definition').documents;
    assert.ok(document);
    for (let index = 0; index < 20_000; index++) {
      assert.equal(document.source.keyAt(`/m/k${index}`).line, index + 2);
    }
  });
});
