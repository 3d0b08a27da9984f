import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pointerSteps } from '../../util/json.ts';
import { definitionSchema } from '../schema/definition-schema.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { fieldOf } from '../tree.ts';
import { unsupportedFields } from './whole-document.ts';

/** The schema of the field at a pointer of the table; undefined when the format has no such field. */
function schemaAt(path: string): unknown {
  let schema: unknown = definitionSchema;
  for (const step of pointerSteps(path)) {
    schema = step === '*' ? fieldOf(schema, 'items') : fieldOf(fieldOf(schema, 'properties'), step);
  }
  return schema;
}

describe('definition/rules/unsupported-fields', () => {
  for (const { path, supportedValues = [] } of unsupportedFields) {
    // A template is free: the schema knows nothing of what is in it.
    if (path.includes('/template/')) continue;
    test(`${path} is a field of the format, and its default is supported`, () => {
      const schema = schemaAt(path);
      assert.ok(schema !== undefined);
      const defaultValue = (schema as JsonSchema).default;
      if (defaultValue !== undefined) assert.deepEqual(supportedValues, [defaultValue]);
    });
  }
});
