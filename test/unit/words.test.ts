import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { logMessages } from '#telemetry/log-messages.ts';
import { type SourceText, sourceTexts } from '../support/words/source-texts.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** All sources but tests. The sandbox quotes the words of the real API server. */
const sources = globSync('src/**/*.ts', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !path.endsWith('.test.ts') && !path.startsWith('src/sandbox/'))
  .sort();

/** Words of the project's old dialect, with the plain ones that replace them. */
const dialect: readonly (readonly [RegExp, string])[] = [
  [/\b(?:is|are|was|be|been) told\b|\btells?\b/i, 'is reported, logs, says (of a text)'],
  [/\bwhoever\b/i, 'name the person or process'],
  [/\bnobody\b/i, 'no process, no manager'],
  [/\bsomebody\b/i, 'another manager, a user'],
  [/\bgo(?:es)? on\b|\bgoing on\b/i, 'continues, keeps running'],
  [/\b(?:it|that|which|child|object|definition) goes\b/i, 'is deleted, stops'],
  [/\bat rest\b|\bcomes? to rest\b/i, 'idle, when nothing changes'],
  [/\bput back\b/i, 'reverted'],
  [/\btake(?:n)? (?:it|the change) back\b/i, 'revert'],
  [/\brefus(?:e|es|ed|al)\b/i, 'rejected, denied'],
  [/\bworlds?\b/i, 'cluster, snapshot'],
  [/\btroubles?\b/i, 'error, failure'],
  [/\bdoubt\b/i, 'may be stale'],
  [/\bstrangers?\b/i, 'object that no longer matches'],
  [/\brivals?\b/i, 'conflicting definition'],
  [/\btruce\b|\bfights?\b/i, 'ownership conflict'],
  [/\bof before\b/i, 'previous'],
  [/\bleft in place\b/i, 'orphaned'],
  [/\bfor want of\b/i, 'because of a missing …'],
  [/\bmistakes?\b/i, 'error'],
  [/\banew\b/i, 'again, recreated'],
];

/** Sentences, not identifiers, patterns or paths. */
function isSentence({ text }: SourceText): boolean {
  return /[a-z]{2,} [a-z{]/i.test(text);
}

describe('words', () => {
  for (const path of sources) {
    test(`${path} uses plain words in its messages`, () => {
      const found = sourceTexts(read(path))
        .filter(isSentence)
        .flatMap(({ text, line }) =>
          dialect
            .filter(([word]) => word.test(text))
            .map(([, plain]) => `line ${line}: "${text}": write "${plain}"`),
        );
      assert.deepEqual(found, []);
    });
  }

  test('every message of the catalogue is logged somewhere', () => {
    const texts = new Set<string>();
    for (const path of sources) {
      if (path === 'src/engine/telemetry/log-messages.ts') continue;
      for (const { text } of sourceTexts(read(path))) texts.add(text);
    }
    assert.deepEqual(
      Object.keys(logMessages).filter((message) => !texts.has(message)),
      [],
    );
  });

  test('every reason of a condition or Event is explained in docs/conditions.md', () => {
    const page = read('docs/conditions.md');
    const reasons = new Set<string>();
    for (const path of sources) {
      if (!/^src\/engine\/(?:reconcile|runtime)\//.test(path)) continue;
      for (const [, reason = ''] of read(path).matchAll(/\breason: '([A-Z]\w+)'/g))
        reasons.add(reason);
    }
    assert.ok(reasons.size > 20);
    assert.deepEqual(
      [...reasons].filter((reason) => !page.includes(`\`${reason}\``)),
      [],
    );
  });
});
