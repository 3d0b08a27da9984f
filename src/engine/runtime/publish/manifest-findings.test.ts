import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManifestCheck, diagnosticLines } from '#check';
import { bad, garbled, good } from '../../../../test/support/fakes/thing-texts.ts';
import type { DefinitionOrigin } from '../desired-definition.ts';
import { FindingsTracker, type ParsedManifest, parseManifest } from './parsed-manifest.ts';

const check = createManifestCheck(undefined);
/** Two children of one name, which is taken with a warning. */
const odd = good('thing').replace(
  /$/,
  `  children:
    - id: map
      forEach: [a, b]
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map } }
`,
);

function reading(text: string, ref = 'a.yaml', source: DefinitionOrigin['source'] = 'directory') {
  return parseManifest({ file: ref, text, origin: { source, ref }, sinceMs: 0 }, check);
}

/** A finding as `file errors warnings rejected`. */
function summary({ manifest: { file }, diagnostics, documents }: ParsedManifest): string {
  const count = (each: 'error' | 'warning') => diagnosticLines(diagnostics, each).length;
  const rejected = documents.filter(({ located }) => located === undefined).length;
  return `${file} ${count('error')} ${count('warning')} ${rejected}`;
}

/** What is reported on each look at the manifests. */
function reported(...looks: readonly (readonly ParsedManifest[])[]): readonly string[] {
  const news = new FindingsTracker();
  return looks.map((readings) => news.update(readings).map(summary).join(', '));
}

describe('runtime/publish/manifest-findings', () => {
  for (const [what, texts, expected] of [
    ['good texts', [good('thing')], ['']],
    ['a text with a mistake', [bad('thing')], ['a.yaml 1 0 1']],
    ['a text that is taken with a warning', [odd], ['a.yaml 0 1 0']],
    [
      'a text that cannot be parsed, and holds nothing that can be identified',
      [garbled],
      ['a.yaml 2 0 0'],
    ],
    [
      'a mistake beside a good definition',
      [`${good('thing')}---\n${bad('other')}`],
      ['a.yaml 1 0 1'],
    ],
    ['the same mistake, once', [bad('thing'), bad('thing')], ['a.yaml 1 0 1', '']],
    [
      'another mistake',
      [bad('thing'), bad('thing').replace('reeds', 'reds')],
      ['a.yaml 1 0 1', 'a.yaml 1 0 1'],
    ],
    [
      'an edit that leaves the mistake where it is',
      [bad('thing'), `${bad('thing')}# more\n`],
      ['a.yaml 1 0 1', ''],
    ],
    [
      'a mistake that is mended, and that once',
      [bad('thing'), good('thing'), good('thing')],
      ['a.yaml 1 0 1', 'a.yaml 0 0 0', ''],
    ],
    [
      'a mistake that comes back',
      [bad('thing'), good('thing'), bad('thing')],
      ['a.yaml 1 0 1', 'a.yaml 0 0 0', 'a.yaml 1 0 1'],
    ],
  ] as const)
    test(`reports ${what}`, () => {
      assert.deepEqual(reported(...texts.map((text) => [reading(text)])), expected);
    });

  test('a text that is gone is forgotten: there is nothing to be said of it, and of one that comes back all', () => {
    assert.deepEqual(reported([reading(bad('thing'))], [], [reading(bad('thing'))]), [
      'a.yaml 1 0 1',
      '',
      'a.yaml 1 0 1',
    ]);
  });

  test('texts differ by where they stand', () => {
    const file = reading(bad('thing'));
    const key = reading(bad('thing'), 'a.yaml', 'configmap');
    assert.deepEqual(reported([file], [file, key], [key, file]), [
      'a.yaml 1 0 1',
      'a.yaml 1 0 1',
      '',
    ]);
  });
});
