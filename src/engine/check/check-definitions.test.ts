import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { checkDefinitions } from './check-definitions.ts';
import { createCheckCache, createManifestCheck } from './check-manifest.ts';

const file = (name: string, text: string) => ({ file: `${name}.yaml`, text });
const good = (name: string, group = `${name}.example.com`) => thingDefinition(name, '', { group });
const textCheck = createManifestCheck(undefined);
const check = (texts: Parameters<typeof checkDefinitions>[0]) => {
  const { accepted, diagnostics } = checkDefinitions(texts, {
    schemas: undefined,
    check: textCheck,
  });
  return {
    names: accepted.map(({ located }) => located.definition.name),
    found: diagnostics.map(({ severity, message }) => `${severity}: ${message}`),
  };
};

describe('check/check-definitions', () => {
  test('documents are accepted one by one, and every error of the others is reported', () => {
    const mixed = `${good('aaa')}---\n${good('bbb')}  controler: {}\n---\n${good('ccc')}  reeds: []\n`;
    const { names, found } = check([
      file('good', good('good')),
      file('mixed', mixed),
      file('garbage', 'a: [\n'),
    ]);
    assert.deepEqual(names, ['good', 'aaa']);
    assert.deepEqual(found.slice(-2), [
      'error: Unknown field "controler"',
      'error: Unknown field "reeds"',
    ]);
  });

  test('an empty file is only warned about', () => {
    const { found } = check([file('empty', '# nothing\n')]);
    assert.deepEqual(found, ['warning: The file contains no definition']);
  });

  test('of two definitions that bring one CRD the first is accepted where no cluster can be asked', () => {
    const texts = [
      file('a', good('aaa', 'same.example.com')),
      file('b', good('bbb', 'same.example.com')),
    ];
    const { names, found } = check(texts);
    assert.deepEqual(names, ['aaa']);
    assert.deepEqual(found, [
      'error: The kind "things.same.example.com" is already used by another definition',
    ]);
  });

  test('of two definitions with one name the first is accepted', () => {
    const { names, found } = check([file('b', good('bbb')), file('c', good('bbb', 'other.io'))]);
    assert.deepEqual(names, ['bbb']);
    assert.deepEqual(found, ['error: The name "bbb" is already used by another definition']);
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
    const reported =
      'error: The status of kind "same.example.com/v1/Thing" is already used by another definition';
    assert.deepEqual(found, [reported, reported]);
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
