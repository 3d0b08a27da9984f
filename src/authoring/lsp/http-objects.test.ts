import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { recordDefinition } from '../../../test/support/http-objects/record-definition.ts';
import { editedText, withoutCursor } from '../../../test/support/lsp/marked-text.ts';
import { TextChecker } from './check-text.ts';
import { complete } from './complete.ts';
import { describe as describeAt } from './hover.ts';
import { loadKnowledge } from './knowledge.ts';
import { parseText } from './parsed-text.ts';

const knowledge = await loadKnowledge();
const object = (spec: string) => `apiVersion: homeostat.dev/v1alpha1
kind: HttpObject
metadata: { name: www }
spec:
${spec}
`;
const labelsAt = ({ text, offset }: { readonly text: string; readonly offset: number }) =>
  complete(parseText(text), offset, knowledge).proposals.map(({ label }) => label);

describe('lsp/http-objects', () => {
  for (const [what, marked, expected] of [
    [
      'fields of a request of a child',
      editedText(recordDefinition, 'create: {', 'create: { |||'),
      ['method', 'query', 'headers', 'contentType'],
    ],
    [
      'values of a field of a child',
      editedText(recordDefinition, 'create: {', 'create: { method: |||,'),
      ['POST', 'PUT', 'PATCH'],
    ],
    [
      'fields of a request of an object in a file',
      withoutCursor(object('  observe:\n    |||')),
      ['path', 'query', 'headers', 'result'],
    ],
    [
      'the kinds of an apiVersion',
      editedText(recordDefinition, 'kind: HttpObject', 'kind: |||'),
      ['HttpEndpoint', 'HttpObject'],
    ],
  ] as const)
    test(`proposes ${what}`, () => {
      const labels = labelsAt(marked);
      for (const each of expected) assert.ok(labels.includes(each), `${each} in ${labels}`);
    });

  for (const [what, marked, expected, others] of [
    [
      'the names of code in an object of a file',
      withoutCursor(object('  observe: { path: /a, result: $(bo|||) }')),
      ['body', 'headers', 'result', '$count'],
      ['spec', 'children', '$now', '$self'],
    ],
    [
      'the names of code that is not finished',
      withoutCursor(object('  ready: $(|||')),
      ['body', 'code', 'metadata'],
      ['spec'],
    ],
    [
      'fields of the desired content for the result of a child',
      editedText(
        recordDefinition,
        'id: $(result.id)',
        'ready: $(result.name = "a" and result.|||)',
      ),
      ['type', 'name', 'content'],
      ['body'],
    ],
    [
      'parameters in the second code of a line',
      editedText(
        recordDefinition,
        'results: $(body.result)',
        'results: $(body.result[$$.params.|||])',
      ),
      ['zone'],
      ['body'],
    ],
    [
      'nothing of code in data',
      withoutCursor(object('  desired: { a: $(bo|||) }')),
      [],
      ['body', 'result'],
    ],
    [
      'nothing of code in a path',
      withoutCursor(object('  observe: { path: "/a/$(|||)" }')),
      [],
      ['body', 'result'],
    ],
    [
      'nothing of code in a text of code',
      withoutCursor(object('  ready: $(result.a = "bo|||")')),
      [],
      ['body'],
    ],
  ] as const)
    test(`proposes ${what}`, () => {
      const labels = labelsAt(marked);
      for (const each of expected) assert.ok(labels.includes(each), `${each} in ${labels}`);
      for (const each of others) assert.ok(!labels.includes(each), `no ${each} in ${labels}`);
    });

  test('explains fields of both kinds', () => {
    for (const [text, expected] of [
      [object('  onIdentity|||Change: Hold'), /names another object/],
      [object('  ur|||l: x').replace('HttpObject', 'HttpEndpoint'), /Origin and base path/],
      [recordDefinition.replace('find:', 'fi|||nd:'), /How the object is found/],
    ] as const) {
      const { text: plain, offset } = withoutCursor(text);
      const found = describeAt(parseText(plain), offset, knowledge);
      assert.match(found?.markdown ?? '', expected);
    }
  });

  describe('checks', () => {
    const checker = new TextChecker();
    after(() => checker.close());

    test('objects in a file without definitions', async () => {
      const text = object('  endpoint: { name: dns }\n  observe: { path: /a, reslt: $(body) }');
      const file = { path: 'a.yaml', isSample: false, definitions: [] };
      const found = await checker.check(text, file);
      assert.deepEqual(
        found.map(({ line, column, message, hint }) => ({ line, column, message, hint })),
        [{ line: 6, column: 24, message: 'Unknown field "reslt"', hint: 'Did you mean "result"?' }],
      );
    });
  });
});
