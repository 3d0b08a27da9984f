import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { parseAllDocuments } from 'yaml';
import { Page } from '../support/pages/index.ts';

const root = new URL('../../', import.meta.url).pathname;
const schemaPath = 'schemas/operator-definition.schema.json';

/** What an editor does with the schema: it knows JSON Schema and nothing else. */
const isValid = new Ajv({ strict: false }).compile(
  JSON.parse(readFileSync(`${root}${schemaPath}`, 'utf8')),
);

/** The definitions among the documents of a text. */
function definitionsIn(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text).map((document) => document.toJS() as unknown);
  return documents.filter((each) => (each as { kind?: string })?.kind === 'OperatorDefinition');
}

describe('docs/editors', () => {
  const page = new Page('editors.md');
  const blocks = page.sections.flatMap((section) => section.blocks);

  test('the page names the schema, which is there', () => {
    assert.ok(existsSync(root + schemaPath));
    const examples = blocks.filter(({ lines }) => lines.join('\n').includes(schemaPath));
    assert.deepEqual(
      examples.map(({ language }) => language),
      ['yaml', 'json', 'yaml', 'lua'],
    );
  });

  const texts = [
    ...globSync('{operators,docs/tutorial,docs/coming-from}/*.yaml', { cwd: root }).map(
      (file) => [file, readFileSync(root + file, 'utf8')] as const,
    ),
    [
      'the example of the page',
      blocks.find(({ language }) => language === 'yaml')?.lines.join('\n') ?? '',
    ] as const,
  ];

  for (const [file, text] of texts) {
    test(`an editor marks nothing in ${file}`, () => {
      const definitions = definitionsIn(text);
      assert.ok(definitions.length > 0);
      for (const definition of definitions)
        assert.ok(isValid(definition), JSON.stringify(isValid.errors));
    });
  }
});
