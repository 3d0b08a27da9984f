import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { breakingChanges } from '#check';
import { parseYaml } from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';

/** The schema of `spec.x`, before and after; `reason` is what must be said of it, nothing: it is safe. */
export type SchemaCase = readonly [before: string, after: string, reason?: RegExp];

/** A test for each case, by what the cases are about. */
export function testSchemaChanges(cases: Readonly<Record<string, readonly SchemaCase[]>>): void {
  for (const [group, pairs] of Object.entries(cases)) {
    describe(`check/crd-change: ${group}`, () => {
      for (const [before, after, reason] of pairs) {
        test(`${before} -> ${after} ${reason === undefined ? 'is safe' : 'breaks'}`, () => {
          const reasons = schemaChange(before, after);
          if (reason === undefined) return assert.deepEqual(reasons, []);
          assert.notEqual(reasons.length, 0);
          assert.match(reasons.map(({ message }) => message).join('\n'), reason);
          for (const { path } of reasons)
            assert.match(
              path,
              /^\/spec\/versions\/0\/schema\/openAPIV3Schema\/properties\/spec\/properties\/x/,
            );
        });
      }
    });
  }
}

/** What breaks when the schema of `spec.x` changes so. */
export function schemaChange(before: string, after: string) {
  return breakingChanges({
    installed: crdWith(schemaOf(before)),
    desired: crdWith(schemaOf(after)),
    storedVersions: ['v1'],
    isOurs: true,
  });
}

function schemaOf(text: string): JsonObject {
  const schema = parseYaml(text);
  assert.ok(isJsonObject(schema));
  return schema;
}

function crdWith(x: JsonObject): JsonObject {
  const spec = { type: 'object', properties: { x } };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    group: 'a.example.com',
    names: { kind: 'A', plural: 'as' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  };
}
