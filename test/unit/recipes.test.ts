import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyDiff } from '../support/recipes/index.ts';
import {
  includesFields,
  matchesOutput,
  parseTranscript,
  shownLine,
} from '../support/recipes/transcript.ts';

describe('how recipes are checked', () => {
  test('a transcript is split into commands, their input and their output', () => {
    const text = `$ kubectl patch site x -p '{"a b": 1}'
$ kubectl apply -f - <<EOF
kind: Secret
EOF
$ kubectl get site
NAME   AGE
x      5s
`;
    assert.deepEqual(parseTranscript(text), [
      {
        words: ['kubectl', 'patch', 'site', 'x', '-p', '{"a b": 1}'],
        input: '',
        output: [],
        outputAt: 1,
      },
      { words: ['kubectl', 'apply', '-f', '-'], input: 'kind: Secret\n', output: [], outputAt: 4 },
      {
        words: ['kubectl', 'get', 'site'],
        input: '',
        output: ['NAME   AGE', 'x      5s'],
        outputAt: 5,
      },
    ]);
    assert.throws(() => parseTranscript('NAME   AGE\n'), /Expected a command/);
  });

  for (const [actual, shown, isMatch] of [
    ['x   True   3m20s', 'x   True   5s', true],
    ['x      True   12s', 'x   True   5s', true],
    ['x   False   5s', 'x   True   5s', false],
    ['5s   Normal   Done within 24h', '7s   Normal   Done within 48h', false],
    ['Created pod: x-ab12', 'Created pod: x-...', true],
    ['Created pod: y-ab12', 'Created pod: x-...', false],
    ['a b', 'a ... b', false],
  ] as const) {
    test(`"${shown}" ${isMatch ? 'is' : 'is not'} "${actual}"`, () => {
      assert.equal(matchesOutput([actual], [shown]), isMatch);
    });
  }

  test('lines that are missing, superfluous or in another order differ', () => {
    assert.equal(matchesOutput(['a', 'b'], ['a']), false);
    assert.equal(matchesOutput(['a'], ['a', 'b']), false);
    assert.equal(matchesOutput(['b', 'a'], ['a', 'b']), false);
    assert.equal(matchesOutput(['b', 'a'], ['a', 'b'], { inOrder: false }), true);
    assert.equal(matchesOutput(['a', 'b'], ['a', 'a'], { inOrder: false }), false);
  });

  for (const [actual, shown, isIncluded] of [
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: '1' }, { a: 1 }, false],
    [undefined, { a: 1 }, false],
    [[1, 2], [1], false],
    [[1, 2], [1, '...'], true],
    [[{ a: 1, b: 2 }], [{ a: 1 }], true],
    [[], {}, false],
    ['x-12', 'x-...', true],
  ] as const) {
    test(`${JSON.stringify(actual)} ${isIncluded ? 'has' : 'has not'} ${JSON.stringify(shown)}`, () => {
      assert.equal(includesFields(actual, shown), isIncluded);
    });
  }

  test('a line is shown with a short age', () => {
    assert.equal(shownLine('x   True   3m20s'), 'x   True   5s');
    assert.equal(shownLine('100s   Normal   within 24h'), '5s     Normal   within 24h');
  });

  test('a diff replaces, removes and adds lines, hunk by hunk', () => {
    const text = 'a:\n  b: 1\n  c: 2\nd: 3\n';
    assert.equal(
      applyDiff(text, '   b: 1\n+  x: 0\n\n-d: 3\n+d: 4\n'),
      'a:\n  b: 1\n  x: 0\n  c: 2\nd: 4\n',
    );
    assert.throws(() => applyDiff(text, '-  b: 2\n'), /Expected these lines once/);
    assert.throws(() => applyDiff('a\nb\na\n', '-a\n'), /Expected these lines once/);
  });
});
