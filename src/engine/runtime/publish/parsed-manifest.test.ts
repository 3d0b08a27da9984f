import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManifestCheck } from '#check/check-manifest.ts';
import { thingDefinition } from '../../../../test/support/definitions.ts';
import type { SourceManifest } from '../sources/definition-source.ts';
import { type ParsedManifest, parseManifest } from './parsed-manifest.ts';

const check = createManifestCheck(undefined);
const good = thingDefinition('good', '  children: []\n');
const wrong = thingDefinition('wrong', '  childern: []\n');

function read(text: string, more: Partial<SourceManifest> = {}): ParsedManifest {
  const origin = { source: 'directory', ref: '/defs/a.yaml' } as const;
  return parseManifest({ file: 'a.yaml', text, origin, sinceMs: 0, ...more }, check);
}

/** Each document by its name, with `+` where it can be published; then how many mistakes have no document. */
function summary({ documents, otherErrors, isValid: isFaultless }: ParsedManifest): string {
  const words = documents.map(({ name, located, errors }) =>
    located === undefined ? `-${name} ${errors.length}` : `+${name}`,
  );
  return [
    ...words,
    ...(otherErrors.length > 0 ? [`nameless ${otherErrors.length}`] : []),
    String(isFaultless),
  ].join(', ');
}

describe('runtime/publish/parsed-manifest', () => {
  for (const [name, text, expected] of [
    ['a definition', good, '+good, true'],
    ['nothing', '', 'true'],
    ['a mistake beside a definition', `${good}---\n${wrong}`, '+good, -wrong 1, false'],
    [
      'a document without a name',
      `${good}---\n${good.replace('name: good', 'nmae: good')}`,
      '+good, other 1, false',
    ],
    ['a name that can be none', good.replace('name: good', 'name: Not a name'), 'other 1, false'],
    ['a syntax error', `${good}---\n- [`, '-good 1, other 1, false'],
  ] as const)
    test(name, () => {
      const reading = read(text);
      assert.match(
        summary(reading).replace(/nameless \d+/, 'other 1'),
        new RegExp(`^${expected.replace(/[+]/g, '\\+')}$`),
      );
    });

  test('errors are reported with their place, the document’s own beside it', () => {
    const { documents } = read(wrong);
    assert.match(
      documents[0]?.errors.join('\n') ?? '',
      /^a\.yaml:\d+:\d+: .*childern.*Did you mean "children"\?$/,
    );
  });

  test('of two documents with one name the first counts', () => {
    const { documents, isValid: isFaultless } = read(`${good}---\n${good}`);
    assert.equal(documents.length, 1);
    assert.equal(isFaultless, false);
  });

  test('what cannot be read holds nothing and is not faultless', () => {
    const reading = read('', { unreadable: 'permission denied' });
    assert.deepEqual(reading.documents, []);
    assert.deepEqual(reading.otherErrors, ['a.yaml:1:1: Cannot be read: permission denied']);
    assert.equal(reading.isValid, false);
  });
});
