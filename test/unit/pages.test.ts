import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  commandsOf,
  edited,
  isShown,
  masked,
  patched,
  sectionsOf,
  shortened,
} from '../support/pages/index.ts';

const page = `# Title

## 1. One

\`\`\`yaml a.yaml
a: 1
\`\`\`

\`\`\`console fails
$ first
output
## no heading
$ second
\`\`\`

## 2. Two
`;

describe('pages with commands', () => {
  test('a page is read by sections, blocks and commands', () => {
    const [, one, two] = sectionsOf(page);
    assert.deepEqual([one?.title, two?.title, two?.blocks], ['1. One', '2. Two', []]);
    const [file, commands] = one?.blocks ?? [];
    assert.deepEqual([file?.language, file?.words, file?.lines], ['yaml', ['a.yaml'], ['a: 1']]);
    assert.ok(commands);
    assert.deepEqual(commandsOf(commands), [
      { text: 'first', output: ['output', '## no heading'], first: 10 },
      { text: 'second', output: [], first: 13 },
    ]);
    assert.equal(page.split('\n')[10], 'output');
  });

  test('a block without an end is an error', () => {
    assert.throws(() => sectionsOf('```yaml\n'), /The block in line 1 has no end/);
  });

  test('edits of a page keep their places', () => {
    const edits = [
      { first: 0, count: 1, lines: ['x', 'y'] },
      { first: 2, count: 1, lines: [] },
    ];
    assert.equal(edited('a\nb\nc', edits), 'x\ny\nb');
  });

  for (const [what, diff, result] of [
    ['adds lines', [' a', '+b'], 'a\nb\nc\n'],
    ['replaces lines', ['-c', '+d'], 'a\nd\n'],
    ['changes several places', ['+0', ' a', '@@', '-c'], '0\na\n'],
  ] as const) {
    test(`a diff ${what}`, () => assert.equal(patched('a\nc\n', diff), result));
  }

  test('a diff whose place is not there exactly once is an error', () => {
    assert.throws(() => patched('a\n', [' b', '+c']), /Expected these lines exactly once/);
    assert.throws(() => patched('a\na\n', [' a', '+c']), /Expected these lines exactly once/);
  });

  for (const [line, result] of [
    ['hello   True    AllReady   2s', 'hello True AllReady AGE'],
    ['Created:      2026-11-23T09:59:56Z (22s ago)', 'Created: TIME (AGE ago)'],
    ['5s (x3 over 2m10s)', 'AGE'],
    ['Pod hello-8cmlcq4br2-mps2v  Running', 'Pod hello-HASH-POD Running'],
    ['revision 6223f79247', 'revision REVISION'],
    ['http://127.0.0.1:41673/1ocbt3ja0q8cqp1ygh0bkxm2n8c5h5yk/apis', 'http://ADDRESS/apis'],
    ['Deployment hello 2/2 ready', 'Deployment hello 2/2 ready'],
  ] as const) {
    test(`"${line}" is compared as "${result}"`, () => assert.equal(masked(line), result));
  }

  test('dots stand for any lines', () => {
    assert.ok(isShown(['...', 'b', '...'], ['a', 'b', 'c', 'd']));
    assert.ok(isShown(['a', '...'], ['a']));
    assert.equal(isShown(['...', 'x'], ['a', 'b']), false);
    assert.equal(isShown(['a.c'], ['abc']), false);
  });

  test('an output is shortened as the page shows it', () => {
    const shown = ['...', 'Conditions:', '  old', '...'];
    assert.deepEqual(shortened(shown, ['Name', 'Conditions:', '  new', 'Data']), [
      '...',
      'Conditions:',
      '  new',
      '...',
    ]);
    assert.deepEqual(shortened(['...', 'gone'], ['a', 'b']), ['a', 'b']);
  });
});
