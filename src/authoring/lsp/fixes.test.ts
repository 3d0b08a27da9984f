import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { operatorText } from '../../../test/support/lsp/marked-text.ts';
import { TextChecker } from './check-text.ts';
import { fixOf } from './fixes.ts';
import { markOf } from './marks.ts';
import { parseText } from './parsed-text.ts';
import { TextDocument } from './protocol.ts';

const webApp = operatorText('web-app');
const database = operatorText('database');

describe('lsp/fixes', () => {
  const checker = new TextChecker();
  after(() => checker.close());

  /** The marked texts of a file, each with the text after its fix. */
  async function marksOf(text: string) {
    const document = TextDocument.create('file:///a.yaml', 'yaml', 1, text);
    const parsed = parseText(text);
    const check = (changed: string) =>
      checker.check(changed, { path: undefined, isSample: false, definitions: [] });
    const marks = [];
    for (const problem of await check(text)) {
      const mark = markOf(problem, { document, parsed });
      const fix = await fixOf(mark, { document, check });
      const fixed = fix && text.slice(0, fix.start) + fix.text + text.slice(fix.end);
      marks.push({ code: mark.code, marked: document.getText(mark.range), fixed });
    }
    return marks;
  }

  for (const [what, text, right, wrong, code, marked] of [
    ['a key', webApp, 'pathType: Prefix', 'pathTpye: Prefix', 'unknown-child-field', 'pathTpye'],
    [
      'a field of the format',
      database,
      'deletionPolicy: Delete',
      'deletionPolcy: Delete',
      'unknown-field',
      'deletionPolcy',
    ],
    [
      'a value',
      database,
      'deletionPolicy: Delete',
      'deletionPolicy: Delte',
      'invalid-value',
      'Delte',
    ],
    [
      'a value in quotes',
      database,
      'deletionPolicy: Delete',
      'deletionPolicy: "Delte"',
      'invalid-value',
      '"Delte"',
    ],
    ['a field of spec', webApp, '${ spec.image }', '${ spec.imgae }', 'unknown-path', 'imgae'],
    ['a field in quotes', webApp, '"${ spec.port }"', '"${ spec.prot }"', 'unknown-path', 'prot'],
    [
      'a field in a template of Handlebars',
      webApp,
      '{{ spec.port }}',
      '{{ spec.prot }}',
      'unknown-path',
      'prot',
    ],
    [
      'an id of a child',
      webApp,
      'observed.deployment.spec',
      'observed.deploymnet.spec',
      'unknown-name',
      'deploymnet',
    ],
    [
      'a path without spec',
      webApp,
      'image: ${ spec.image }',
      'image: ${ image }',
      'unknown-path',
      'image',
    ],
    [
      'a path of kro',
      webApp,
      'image: ${ spec.image }',
      'image: ${ schema.spec.image }',
      'unknown-path',
      'schema',
    ],
    [
      'a variable without $',
      database,
      '${ metadata.name }-${ $item }\n          labels',
      '${ metadata.name }-${ item }\n          labels',
      'unknown-path',
      'item',
    ],
  ] as const) {
    test(`changes ${what}`, async () => {
      const marks = await marksOf(text.replace(right, () => wrong));
      const first = marks.find((mark) => mark.code === code);
      assert.equal(first?.marked, marked);
      const quoted = wrong.includes('"Delte"') ? right.replace('Delete', '"Delete"') : right;
      assert.equal(
        first?.fixed,
        text.replace(right, () => quoted),
      );
    });
  }

  for (const [what, right, wrong] of [
    [
      'an expression that YAML cuts',
      'image: \'${ spec.image ? "a: b" : "c" }\'',
      'image: ${ spec.image ? "a: b" : "c" }',
    ],
    ['an expression in a flow map', 'image: "${ spec.image }"', 'image: ${ spec.image }'],
    [
      'an expression in the wrong quotes',
      'image: \'${ spec.image & "a" }\'',
      'image: "${ spec.image & "a" }"',
    ],
    ['a template without quotes', 'image: "{{ spec.image }}"', 'image: {{ spec.image }}'],
    ['a path without braces', 'image: ${ spec.image }', 'image: spec.image'],
    ['a quoted path without braces', 'image: "${ spec.image }"', 'image: "spec.image"'],
    ['a path inside a text', 'image: "a/${ spec.image }:b"', 'image: "a/$spec.image:b"'],
    ['a brace that is left', 'image: "a/${ spec.image }"', 'image: "a/${ spec.image }}"'],
    ['a number as a key', '"1.10": a', '1.10: a'],
  ] as const) {
    test(`mends ${what}`, async () => {
      const isFlow = what.includes('flow');
      const place = (line: string) =>
        what.includes('number')
          ? webApp.replace('labels: ', () => `annotations: { ${line} }\n        labels: `)
          : webApp.replace('image: ${ spec.image }', () =>
              isFlow
                ? `resources: { limits: { ${line.replace('image', 'cpu')} } }\n              image: a`
                : line,
            );
      const [first] = await marksOf(place(wrong));
      assert.equal(first?.fixed, place(right));
    });
  }

  test('marks the first line of a value of several lines, and a word of an expression', async () => {
    const text = webApp
      .replace('replicas: >-', 'replicsa: >-')
      .replace('${ spec.image }', '${ spec.image + }');
    const marks = (await marksOf(text)).map(({ marked }) => marked);
    assert.deepEqual(marks, ['replicsa', ' }']);
  });

  test('a name that belongs elsewhere has no fix', async () => {
    const marks = await marksOf(webApp.replace('observed.deployment.spec', 'observed.labels.spec'));
    assert.deepEqual(marks[0], { code: 'unknown-name', marked: 'labels', fixed: undefined });
  });

  test('a diagnostic without a suggestion has no fix', async () => {
    const [mark] = await marksOf(
      webApp.replace('kind: Ingress', 'kind: Ingress\n        nothing: 1'),
    );
    assert.deepEqual([mark?.marked, mark?.fixed], ['nothing', undefined]);
  });
});
