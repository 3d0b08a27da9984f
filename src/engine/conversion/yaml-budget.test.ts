import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { YamlBudget } from './yaml-budget.ts';

/** What is read and printed by the budget, and what is returned of it. */
function counted() {
  const [read, printed]: [string[], unknown[]] = [[], []];
  const budget = new YamlBudget({
    parse(text) {
      read.push(text);
      return text.startsWith('long') ? Array.from({ length: 300_000 }, () => 0) : { text };
    },
    print(value) {
      printed.push(value);
      return 'text';
    },
  });
  return { budget, read, printed };
}

const nested = (levels: number, value: unknown): unknown =>
  levels === 0 ? value : { a: nested(levels - 1, value) };

const lines = (count: number) => 'a\n'.repeat(count);

describe('conversion/yaml-budget', () => {
  for (const [what, text] of [
    ['brackets', '['.repeat(200_000)],
    ['keys', 'k: 1\n'.repeat(5_001)],
    ['anchors', '- &a x\n'.repeat(3_400)],
    ['tags', '- !a x\n'.repeat(3_400)],
    ['line breaks', '\n'.repeat(10_001)],
    ['a megabyte of plain text', 'a'.repeat(1_000_001)],
  ] as const)
    test(`a text of ${what} is not parsed, as if it were no YAML`, () => {
      const { budget, read } = counted();
      assert.throws(() => budget.parse(text));
      assert.deepEqual(read, []);
    });

  test('the texts of an object share a budget, and a short one after a long one is still read', () => {
    const { budget, read } = counted();
    const convert = budget.perObject((texts) => (texts as string[]).map((each) => attempt(each)));
    const attempt = (text: string) => {
      try {
        return budget.parse(text) !== undefined;
      } catch {
        return false;
      }
    };
    const texts = [lines(6_000), lines(6_000), lines(3_000), lines(3_000)];
    assert.deepEqual(convert(texts), [true, false, true, false]);
    assert.deepEqual(convert(texts), [true, false, true, false], 'each object has all of it');
    assert.equal(read.length, 4);
  });

  test('a value that aliases have made much longer than its text is not used', () => {
    const { budget } = counted();
    assert.throws(() => budget.parse('long'));
    assert.deepEqual(budget.parse('a'.repeat(300)), { text: 'a'.repeat(300) });
  });

  for (const [what, value] of [
    ['many parts', Array.from({ length: 10_000 }, () => 0)],
    ['many fields', Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [at, 0]))],
    ['many characters', 'a'.repeat(1_000_001)],
    ['many lines', lines(10_001)],
    ['many lines in deep levels', nested(200, lines(2_000))],
    [
      'many fields in deep levels',
      nested(
        400,
        Array.from({ length: 400 }, () => 0),
      ),
    ],
    ['many levels', JSON.parse(`${'['.repeat(501)}${']'.repeat(501)}`)],
  ] as const)
    test(`a value of ${what} is not printed`, () => {
      const { budget, printed } = counted();
      assert.throws(() => budget.print(value));
      assert.deepEqual(printed, []);
    });

  test('a long text a few levels deep is printed', () => {
    const { budget, printed } = counted();
    budget.print(nested(8, lines(9_000)));
    assert.equal(printed.length, 1);
  });
});
