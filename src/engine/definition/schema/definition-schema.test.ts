import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { isJsonObject } from '#util/json.ts';
import { definitionSchema } from './definition-schema.ts';

interface Field {
  readonly path: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** All fields below a node of the schema. */
function fieldsOf(node: unknown, path = ''): readonly Field[] {
  if (!isJsonObject(node)) return [];
  const { properties, items, additionalProperties, $defs } = node;
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  return [
    ...named.flatMap(([name, schema]) => [
      ...(isJsonObject(schema) ? [{ path: `${path}/${name}`, schema }] : []),
      ...fieldsOf(schema, `${path}/${name}`),
    ]),
    ...fieldsOf(items, `${path}[]`),
    ...fieldsOf(additionalProperties, `${path}{}`),
    ...(isJsonObject($defs) ? Object.values($defs).flatMap((each) => fieldsOf(each, '$')) : []),
  ];
}

describe('definition/schema/definition-schema', () => {
  test('is a valid JSON schema, because it is not validated at start-up', () => {
    const ajv = new Ajv({ strict: false });
    assert.ok(ajv.validateSchema(definitionSchema), ajv.errorsText());
  });

  const fields = fieldsOf(definitionSchema);

  test('describes every field in a sentence, for editors', () => {
    const isSentence = (text: unknown) => typeof text === 'string' && /^[A-Z`].{6,}\.$/.test(text);
    const without = fields.filter(({ schema }) => !isSentence(schema.description));
    assert.deepEqual(
      without.map(({ path }) => path),
      [],
    );
  });

  test('has an example for every string without an enum', () => {
    const isFree = ({ schema }: Field) => schema.type === 'string' && schema.enum === undefined;
    const without = fields.filter((field) => isFree(field) && field.schema.examples === undefined);
    assert.deepEqual(
      without.map(({ path }) => path),
      [],
    );
  });

  test('has valid examples', () => {
    const ajv = new Ajv({ strict: false });
    const whole = { $defs: definitionSchema.$defs };
    for (const { path, schema } of fields)
      for (const example of (schema.examples ?? []) as readonly unknown[])
        assert.ok(ajv.validate({ ...schema, ...whole }, example), `${path}: ${ajv.errorsText()}`);
  });
});
