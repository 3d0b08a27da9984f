import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '#util/json.ts';
import { readDocuments } from './read-documents.ts';

/** What `sigs.k8s.io/yaml` makes of a text, as kubectl calls it. */
interface Fact {
  readonly written: string;
  readonly json?: Json;
  readonly rejected?: boolean;
}

const facts: Readonly<Record<'scalars' | 'keys' | 'documents', readonly Fact[]>> = JSON.parse(
  readFileSync(
    new URL('../../../../test/fixtures/yaml/kubectl-readings.json', import.meta.url),
    'utf8',
  ),
);

/** Undefined: rejected. */
function read(text: string): readonly Json[] | undefined {
  const { documents, syntaxErrors } = readDocuments(text, 'a.yaml', 'kubectl');
  return syntaxErrors.length > 0 ? undefined : documents.map(({ value }) => value);
}

describe('definition/yaml/kubectl-reading', () => {
  for (const { written, json, rejected } of facts.scalars)
    test(`the value ${written} is ${rejected ? 'rejected' : JSON.stringify(json)}`, () => {
      const documents = read(`a: ${written}\n`);
      assert.deepEqual(documents?.[0], rejected ? undefined : { a: json });
    });

  for (const { written, json, rejected } of facts.keys)
    test(`the key ${written} is ${rejected ? 'rejected' : JSON.stringify(json)}`, () => {
      const documents = read(`${written}: a\n`);
      assert.deepEqual(documents?.[0], rejected ? undefined : { [String(json)]: 'a' });
    });

  for (const { written, json, rejected } of facts.documents)
    test(`${JSON.stringify(written)} is ${rejected ? 'rejected' : JSON.stringify(json)}`, () => {
      assert.deepEqual(read(written), rejected ? undefined : json);
    });

  for (const [text, message] of [
    ['a: 1\na: 2', 'Field "a" is defined twice'],
    ['1: a\n"1": b', 'Field "1" is defined twice'],
    ['on: a\ntrue: b', 'Field "true" is defined twice'],
    ['a: .inf', 'Number ".inf" cannot be represented exactly'],
    ['18446744073709551615: a', 'Expected a field name, found "18446744073709551615"'],
    ['~: a', 'Expected a field name, found "~"'],
    ['a: !!int x', 'Expected a value of the tag "tag:yaml.org,2002:int", found "x"'],
    ['a: &a { <<: *a }', 'Alias "*a" contains itself'],
  ] as const)
    test(`${JSON.stringify(text)} is an error where kubectl would change or drop something`, () => {
      const { syntaxErrors } = readDocuments(text, 'a.yaml', 'kubectl');
      assert.deepEqual(
        syntaxErrors.map((error) => error.message),
        [message],
      );
    });

  for (const [text, path, message] of [
    ['a: { 1.10: x }', '/a/1.1', 'Plain "1.10" is the number 1.1, so the field is named "1.1"'],
    ['a: { on: x }', '/a/true', 'Plain "on" is the boolean true, so the field is named "true"'],
    ['a: { 0400: x }', '/a/256', 'Plain "0400" is the number 256, so the field is named "256"'],
    ['a: !Ref x', '/a', 'Tag "!Ref" is ignored, as by kubectl'],
    [
      'a: 18446744073709551615',
      '/a',
      'Integer "18446744073709551615" needs more than 64 bits with a sign: it becomes 18446744073709552000, as by kubectl',
    ],
  ] as const)
    test(`${JSON.stringify(text)} is a warning`, () => {
      const [document] = readDocuments(text, 'a.yaml', 'kubectl').documents;
      assert.deepEqual(
        document?.warnings.map((warning) => [warning.path, warning.message]),
        [[path, message]],
      );
    });

  for (const [written, json] of [
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9_223_372_036_854_775_807', '9223372036854775807'],
    ['0x7FFFFFFFFFFFFFFF', '9223372036854775807'],
    ['0777777777777777777777', '9223372036854775807'],
    ['!!int 9007199254740993', '9007199254740993'],
    ['!!float 9007199254740993', '9007199254740992'],
    // A server holds no integer above 64 bits with a sign: both sides read a floating-point number.
    ['9223372036854775808', '9223372036854776000'],
    ['18446744073709551615', '18446744073709552000'],
    ['100000000000000000000000', '1e+23'],
  ] as const)
    test(`the integer ${written} is ${json}`, () => {
      const documents = read(`a: { b: [${written}] }\n9007199254740993: c\n`);
      assert.equal(JSON.stringify(documents), `[{"a":{"b":[${json}]},"9007199254740993":"c"}]`);
    });

  test('fields are located by the names that they have, and merged fields where they are written', () => {
    const text = 'a: &x\n  0400: 1\n  b: 2\nc:\n  <<: *x\n  on: 3\n';
    const [document] = readDocuments(text, 'a.yaml', 'kubectl').documents;
    const places = ['/a/256', '/c/256', '/c/b', '/c/true'].map(
      (pointer) => document?.source.keyAt(pointer).line,
    );
    assert.deepEqual(places, [2, 2, 3, 6]);
  });

  test('an alias bomb of merged maps is rejected', () => {
    const level = (n: number) => `l${n}: &l${n} { <<: [${`*l${n - 1},`.repeat(9)}] }\n`;
    const bomb = `l0: &l0 { a: 1 }\n${[1, 2, 3, 4, 5, 6, 7].map(level).join('')}`;
    assert.equal(read(bomb), undefined);
  });
});

/** What a definition is warned of: the JSON pointer and the hint. */
function warningsOf(text: string): readonly (readonly [string, string | undefined])[] {
  const [document] = readDocuments(text, 'a.yaml', 'definition').documents;
  return (document?.warnings ?? []).map(({ path, hint }) => [path, hint]);
}

describe('definition/yaml/definition-reading', () => {
  const plain = facts.scalars.filter(
    ({ written, rejected }) => rejected !== true && !/^["'!]|e400$/.test(written),
  );
  for (const { written, json } of plain)
    test(`${written} gives a warning if kubectl reads another value`, () => {
      const text = `a: ${written}\n`;
      const { documents } = readDocuments(text, 'a.yaml', 'definition');
      const value = (documents[0]?.value as JsonObject | undefined)?.a;
      assert.equal(warningsOf(text).length, value === json ? 0 : 1);
    });

  for (const [text, path, hint] of [
    ['a: 0400', '/a', 'Quote it if it is a string: "0400", else write 256'],
    ['a: [yes]', '/a/0', 'Quote it if it is a string: "yes", else write true'],
    ['a: 1_000', '/a', 'Quote it if it is a string: "1_000", else write 1000'],
    ['vars: { n: 1 }', '/vars/n', 'Quote it: "n"'],
    ['a: { 1.10: x }', '/a/1.1', 'Quote it: "1.10"'],
    ['a: { 010: x }', '/a/10', 'Quote it: "010"'],
  ] as const)
    test(`the warning of ${text} has the hint ${hint}`, () => {
      assert.deepEqual(warningsOf(text), [[path, hint]]);
    });

  for (const text of ['a: 12:30', 'a: 0o17', 'a: 2001-12-14', 'a: { 8080: x }', 'a: "yes"'])
    test(`${text} gives no warning: kubectl reads the same`, () => {
      assert.deepEqual(warningsOf(text), []);
    });

  test('large hexadecimal and octal numbers are an error instead of another number', () => {
    for (const text of ['a: 0xFFFFFFFFFFFFFFFF', 'a: 0o7777777777777777777777'])
      assert.equal(readDocuments(text, 'a.yaml', 'definition').syntaxErrors.length, 1, text);
  });
});
