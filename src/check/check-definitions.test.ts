import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { thingDefinition } from '../../test/support/definitions.ts';
import { checkDefinitions } from './check-definitions.ts';
import { createCheckCache, createManifestCheck } from './check-manifest.ts';

const file = (name: string, text: string) => ({ file: `${name}.yaml`, text });
const good = (name: string, group = `${name}.example.com`) => thingDefinition(name, '', { group });
const textCheck = createManifestCheck(undefined);
const check = (texts: Parameters<typeof checkDefinitions>[0], sameCrd?: 'first' | 'cluster') => {
  const { accepted, diagnostics, rejected } = checkDefinitions(texts, {
    schemas: undefined,
    check: textCheck,
    ...(sameCrd === undefined ? {} : { crdConflicts: sameCrd }),
  });
  return {
    names: accepted.map(({ located }) => located.definition.name),
    found: diagnostics.map(({ severity, message }) => `${severity}: ${message}`),
    rejected,
  };
};

describe('check/check-definitions', () => {
  test('what is rejected is reported by file, with the number of its definitions', () => {
    const mixed = `${good('aaa')}---\n${good('bbb')}  controler: {}\n---\n${good('ccc')}  reeds: []\n`;
    const { names, rejected } = check([
      file('good', good('good')),
      file('mixed', mixed),
      file('garbage', 'a: [\n'),
    ]);
    assert.deepEqual(names, ['good', 'aaa']);
    assert.deepEqual(
      rejected.map(({ file, definitions }) => [file, definitions]),
      [
        ['garbage.yaml', 1],
        ['mixed.yaml', 2],
      ],
    );
    assert.equal(rejected[1]?.diagnostics.length, 2);
    assert.match(
      rejected[1]?.diagnostics[0] ?? '',
      /^mixed\.yaml:\d+:3: Unknown field "controler"\. Did you mean "controller"\?$/,
    );
  });

  test('a file with warnings only is not rejected', () => {
    assert.deepEqual(check([file('empty', '# nothing\n')]).rejected, []);
  });

  test('of two definitions that bring one CRD the first is accepted where no cluster can be asked', () => {
    const texts = [
      file('a', good('aaa', 'same.example.com')),
      file('b', good('bbb', 'same.example.com')),
    ];
    const { names, found, rejected } = check(texts);
    assert.deepEqual(names, ['aaa']);
    assert.deepEqual(found, [
      'error: The kind "things.same.example.com" is already used by another definition',
    ]);
    assert.deepEqual(
      rejected.map((each) => each.file),
      ['b.yaml'],
    );
  });

  test('and both where a cluster says whose it is, but never two of one name', () => {
    const texts = [
      file('a', good('aaa', 'same.example.com')),
      file('b', good('bbb', 'same.example.com')),
      file('c', good('bbb', 'same.example.com')),
    ];
    const { names, found } = check(texts, 'cluster');
    assert.deepEqual(names, ['aaa', 'bbb']);
    assert.deepEqual(found, [
      'warning: The kind "things.same.example.com" is also used by another definition',
      'error: The name "bbb" is already used by another definition',
    ]);
  });

  const attached = (name: string, group: string, more = '') => `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  for: { apiVersion: ${group}/v1, kind: Thing }
${more}`;
  const mapped = '  status: { phase: Ready }\n';

  test('any number of definitions share a kind that is there', () => {
    const { names, found } = check([
      file('a', attached('aaa', 'same.example.com')),
      file('b', attached('bbb', 'same.example.com', mapped)),
      file('c', attached('ccc', 'same.example.com')),
      file('d', attached('ddd', 'other.example.com', mapped)),
    ]);
    assert.deepEqual(names, ['aaa', 'bbb', 'ccc', 'ddd']);
    assert.deepEqual(found, []);
  });

  test('a status is mapped by one of them only', () => {
    const { names, found } = check([
      file('a', attached('aaa', 'same.example.com', mapped)),
      file('b', attached('bbb', 'same.example.com', mapped)),
      file(
        'c',
        attached('ccc', 'same.example.com', '  conditions: [{ type: Fine, status: true }]\n'),
      ),
    ]);
    assert.deepEqual(names, ['aaa']);
    const told =
      'error: The status of kind "same.example.com/v1/Thing" is already used by another definition';
    assert.deepEqual(found, [told, told]);
  });

  test('who brings a CRD has its status, whichever comes first', () => {
    const { names, found } = check([
      file('a', attached('aaa', 'same.example.com', mapped)),
      file('b', attached('bbb', 'same.example.com')),
      file('c', good('ccc', 'same.example.com')),
    ]);
    assert.deepEqual(names, ['bbb', 'ccc']);
    assert.deepEqual(found, [
      'error: The status of kind "same.example.com/v1/Thing" is already used by another definition',
    ]);
  });

  test('a text that is looked at twice is checked once, and a third time again', () => {
    const checked: string[] = [];
    const check = createManifestCheck(undefined);
    const { fill: remember, take: recall } = createCheckCache((text) => {
      checked.push(text.file);
      return check(text);
    });
    const first = remember(file('a', good('aaa')));
    assert.equal(recall(file('a', good('aaa'))), first);
    assert.deepEqual(checked, ['a.yaml']);
    recall(file('a', good('bbb')));
    recall(file('a', good('bbb')));
    recall(file('a', good('aaa')));
    assert.equal(checked.length, 4);
  });
});
