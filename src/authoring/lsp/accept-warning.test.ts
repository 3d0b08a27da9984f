import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { acceptanceOf } from './accept-warning.ts';
import { fixesOf } from './answers.ts';
import { TextChecker } from './check-text.ts';
import { markOf } from './marks.ts';
import { parseText } from './parsed-text.ts';
import { TextDocument } from './protocol.ts';

const children = `  children:
    - id: map
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map }, data: { size: "\${ $string(spec.a != 1) }" } } # a != b
`;
const path = '/spec/children/map/template/data/size';

describe('lsp/accept-warning', () => {
  const checker = new TextChecker();
  after(() => checker.close());
  const check = (text: string) =>
    checker.check(text, { path: undefined, isSample: false, definitions: [] });

  async function marksOf(text: string) {
    const document = TextDocument.create('file:///a.yaml', 'yaml', 1, text);
    const parsed = parseText(text);
    const marks = (await check(text)).map((each) => markOf(each, { document, parsed }));
    return { document, parsed, marks };
  }

  /** The text after the fix of its last warning. */
  async function acceptedText(text: string): Promise<string> {
    const { document, parsed, marks } = await marksOf(text);
    const mark = marks.at(-1);
    assert.ok(mark);
    const fix = acceptanceOf(mark, parsed, document.offsetAt(mark.range.start));
    assert.ok(fix);
    return text.slice(0, fix.start) + fix.text + text.slice(fix.end);
  }

  const entry = (indent: string) =>
    `${indent}- code: suspicious-expression\n${indent}  path: ${path}\n${indent}  reason: ""\n`;

  for (const [where, text, expected] of [
    [
      'at the end of the spec',
      thingDefinition('thing', children),
      thingDefinition('thing', `${children}  acceptedWarnings:\n${entry('    ')}`),
    ],
    [
      'in the right one of two definitions',
      `${thingDefinition('other', '  children: []\n')}---\n${thingDefinition('thing', children)}---\n`,
      `${thingDefinition('other', '  children: []\n')}---\n${thingDefinition('thing', `${children}  acceptedWarnings:\n${entry('    ')}`)}---\n`,
    ],
    [
      'before other entries',
      thingDefinition(
        'thing',
        `  acceptedWarnings:\n    - { code: cycle, reason: x }\n${children}`,
      ),
      thingDefinition(
        'thing',
        `  acceptedWarnings:\n${entry('    ')}    - { code: cycle, reason: x }\n${children}`,
      ),
    ],
    [
      'in an empty list',
      thingDefinition('thing', `  acceptedWarnings: []\n${children}`),
      thingDefinition(
        'thing',
        `  acceptedWarnings: [{"code":"suspicious-expression","path":"${path}","reason":""}]\n${children}`,
      ),
    ],
  ] as const)
    test(`adds an entry ${where}`, async () => assert.equal(await acceptedText(text), expected));

  test('adds an entry to JSON', async () => {
    const [document] = parseText(thingDefinition('thing', children)).documents;
    const text = JSON.stringify(document?.value, undefined, 2);
    const accepted = JSON.parse(await acceptedText(text));
    assert.deepEqual(accepted.spec.acceptedWarnings, [
      { code: 'suspicious-expression', path, reason: '' },
    ]);
  });

  test('only the reason is missing then', async () => {
    const text = await acceptedText(thingDefinition('thing', children));
    const found = await check(text);
    assert.deepEqual(
      found.map(({ message }) => message),
      ['An accepted warning needs a reason'],
    );
    assert.deepEqual(await check(text.replace('reason: ""', 'reason: It is required')), []);
  });

  test('is offered beside the fix of a hint, and not for errors', async () => {
    const offered = async (text: string) => {
      const { document, parsed, marks } = await marksOf(text);
      const actions = await fixesOf({ document, parsed, check }, { diagnostics: [...marks] });
      return actions.map(({ title, isPreferred }) => `${title} ${isPreferred}`);
    };
    const misspelled = children.replace('$string(spec.a != 1)', '$string(sepc.a)');
    assert.deepEqual(await offered(thingDefinition('thing', misspelled)), [
      'Change to "spec" true',
    ]);
    const kind = children.replace('kind: ConfigMap', 'kind: ConfgMap').replace(' != 1', '');
    assert.deepEqual(await offered(thingDefinition('thing', kind)), [
      'Change to "ConfigMap" true',
      'Accept this warning with a reason false',
    ]);
  });
});
