import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { definitionSchema } from './definition-schema.ts';

describe('definition/schema/definition-schema', () => {
  test('is a JSON schema: nobody checks it when a process starts', () => {
    const ajv = new Ajv({ strict: false });
    assert.ok(ajv.validateSchema(definitionSchema), ajv.errorsText());
  });
});
