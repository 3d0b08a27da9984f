import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { yamlLanguage } from '@codemirror/lang-yaml';
import { boundedYaml } from './yaml-language.ts';

const deep = `a: ${'['.repeat(20_000)}`;

/** Calls a function when only a part of the stack is left. */
function deepInStack<Result>(frames: number, call: () => Result): Result {
  return frames === 0 ? call() : deepInStack(frames - 1, call);
}

describe('boundedYaml', () => {
  const language = boundedYaml();

  test('the tree of ordinary text is that of the library', () => {
    const text = 'a: [1, { b: c }]\nd:\n  - e\n';
    assert.equal(
      language.parser.parse(text).toString(),
      yamlLanguage.parser.parse(text).toString(),
    );
  });

  test('what exceeds the stack has no tree, and is no error', () => {
    const frames = 6_000;
    assert.throws(() => deepInStack(frames, () => yamlLanguage.parser.parse(deep)), RangeError);
    const tree = deepInStack(frames, () => language.parser.parse(deep));
    assert.equal(tree.length, deep.length);
    assert.equal(tree.toString(), 'Stream');
  });
});
