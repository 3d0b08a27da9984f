import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { causesOf, crdDiagnostics } from '#check';
import type { JsonObject } from '#util/json.ts';
import { isEstablished, skipBefore, useControlPlane } from '../support/control-plane/index.ts';
import { definitionParser } from '../support/definition-parser.ts';
import { thingDefinition } from '../support/definitions.ts';

const shared = useControlPlane({ controllerManager: false });
const root = new URL('../../', import.meta.url).pathname;
const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A definition whose resources have this schema under `spec`, in flow style. */
function definitionOf(schema: string): string {
  return thingDefinition('thing', '', {
    schema: ` { type: object, properties: { spec: ${schema} } }`,
  });
}

const intOrString = 'x-kubernetes-int-or-string: true';
const open = 'x-kubernetes-preserve-unknown-fields: true';
const mapOfName = 'x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]';
const named = 'properties: { name: { type: string } }';

/** Schemas, all of which we judge as the server does. */
const schemas = [
  '{ type: object, properties: { a: { type: string } } }',
  '{ properties: { a: { type: string } } }',
  '{ type: object, properties: { a: {} } }',
  '{ type: list }',
  '{ type: array }',
  '{ type: array, items: {} }',
  '{ type: array, items: { type: string } }',
  '{ type: array, items: [{ type: string }] }',
  '{ type: array, uniqueItems: true, items: { type: string } }',
  '{ type: object, additionalProperties: { type: string } }',
  '{ type: object, additionalProperties: { type: string }, properties: { a: { type: string } } }',
  '{ type: object, additionalProperties: true, properties: { a: { type: string } } }',
  '{ type: object, additionalProperties: false, properties: { a: { type: string } } }',
  `{ ${open} }`,
  `{ ${intOrString} }`,
  `{ ${intOrString}, ${open} }`,
  `{ ${intOrString}, anyOf: [{ type: integer }, { type: string }] }`,
  `{ ${intOrString}, anyOf: [{ type: string }, { type: integer }] }`,
  `{ ${intOrString}, allOf: [{ anyOf: [{ type: integer }, { type: string }] }, { pattern: a }] }`,
  '{ type: string, anyOf: [{ type: string }, { minLength: 1 }] }',
  '{ type: string, anyOf: [{ pattern: a }, { minLength: 1 }] }',
  '{ type: string, not: { description: no } }',
  '{ type: object, properties: { a: { type: string } }, oneOf: [{ properties: { a: { minLength: 1 } } }] }',
  '{ type: object, properties: { a: { type: string } }, oneOf: [{ properties: { b: { minLength: 1 } } }] }',
  '{ type: object, x-kubernetes-embedded-resource: true }',
  `{ type: object, x-kubernetes-embedded-resource: true, ${open} }`,
  `{ type: string, x-kubernetes-embedded-resource: true, ${open} }`,
  '{ $ref: "#/a" }',
  '{ type: object, patternProperties: { a: { type: string } } }',
  '{ type: object, definitions: { a: { type: string } } }',
  '{ type: string, minmum: 3 }',
  '{ type: string, default: 3 }',
  '{ type: string, default: a }',
  '{ type: string, enum: [a], default: b }',
  '{ type: string, nullable: true, default: null }',
  '{ type: object, default: { a: 1 }, properties: { a: { type: integer } } }',
  '{ type: object, default: { a: 1, b: 2 }, properties: { a: { type: integer } } }',
  '{ type: string, minLength: 2, default: a }',
  '{ type: integer, maximum: 2, default: 3 }',
  '{ type: integer, enum: [1, 2], default: 2 }',
  '{ type: integer, enum: [1, 2], default: 3 }',
  '{ type: array, maxItems: 1, default: [a, b], items: { type: string } }',
  '{ type: string, pattern: "a(?=b)" }',
  '{ type: string, pattern: "(?i)a(?P<x>b)\\\\1" }',
  '{ type: string, pattern: "(a)\\1" }',
  `{ type: object, x-kubernetes-embedded-resource: true, ${open}, additionalProperties: { type: string } }`,
  `{ type: array, ${mapOfName}, items: { type: object, required: [name], ${named} } }`,
  `{ type: array, ${mapOfName}, items: { type: object, ${named} } }`,
  `{ type: array, ${mapOfName}, items: { type: object } }`,
  `{ type: array, ${mapOfName}, items: { type: string } }`,
  `{ type: array, x-kubernetes-list-type: map, items: { type: object, ${named} } }`,
  '{ type: array, x-kubernetes-list-map-keys: [name], items: { type: object } }',
  '{ type: array, x-kubernetes-list-type: set, items: { type: string } }',
  '{ type: array, x-kubernetes-list-type: set, items: { type: object } }',
  '{ type: array, x-kubernetes-list-type: set, items: { type: string, nullable: true } }',
  '{ type: array, x-kubernetes-list-type: sets, items: { type: string } }',
  '{ type: string, x-kubernetes-list-type: set }',
  '{ type: string, x-kubernetes-map-type: atomic }',
  '{ type: object, x-kubernetes-map-type: atomic }',
  '{ type: string, x-kubernetes-validations: [{ rule: "self != \'\'" }] }',
  '{ type: string, x-kubernetes-validations: [{ message: no rule }] }',
  '{ type: string, x-kubernetes-validations: [{ rule: "self != \'\'\\n" }] }',
  '{ type: string, x-kubernetes-validations: [{ rule: "self !=\\n \'\'" }] }',
  '{ type: string, x-kubernetes-validations: [{ rule: "self !=\\n \'\'", message: empty }] }',
  '{ type: string, x-kubernetes-validations: [{ rule: "self != \'\'", message: "two\\nlines" }] }',
  '{ type: string, x-kubernetes-validations: [{ rule: "self != \'\'", reason: Wrong }] }',
] as const;

/** What only a server finds: a schema that our rules accept, and where the server's reason is shown. */
const foundByServer: readonly (readonly [schema: string, text: string, message: RegExp])[] = [
  ['{ type: string, pattern: "[" }', 'pattern', /must be a valid regular expression/],
  [
    '{ type: integer, x-kubernetes-validations: [{ rule: "self >" }] }',
    '"self >"',
    /cannot compile this CEL expression: Syntax error/,
  ],
  [
    '{ type: object, properties: { a: { type: string } }, x-kubernetes-validations: [{ rule: "self.b == 1" }] }',
    '"self.b',
    /cannot compile this CEL expression: undefined field 'b'/,
  ],
  [
    '{ type: object, x-kubernetes-validations: [{ rule: "oldSelf == self", messageExpression: "1" }] }',
    'messageExpression',
    /must evaluate to a string/,
  ],
];

shared.describe('integration/crd', () => {
  const files = ['operators/*.yaml', 'test/fixtures/valid/*'].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );
  for (const file of files) {
    const text = readFileSync(root + file, 'utf8');
    const skip = text.includes('selectableFields') && skipBefore('1.31');
    test(`the server takes the CRDs of ${file} as they are completed`, { skip }, async () => {
      const { definitions, diagnostics } = definitionParser.parse(text, file);
      assert.deepEqual(diagnostics, []);
      for (const { definition } of definitions) {
        if (definition.kind.source !== 'crd') continue;
        const { crd } = definition.kind;
        const path = `${collection}/${crd.metadata.name}`;
        const applied = {
          method: 'PATCH',
          path: `${path}?fieldManager=test&fieldValidation=Strict`,
        };
        const contentType = 'application/apply-patch+yaml';
        await shared.client().must({ ...applied, body: crd, contentType });
        await shared.client().untilObject(path, isEstablished);
      }
    });
  }

  for (const schema of schemas) {
    test(`we and the server agree about ${schema}`, async () => {
      const { definitions, documents, diagnostics } = definitionParser.parse(
        definitionOf(schema),
        'a.yaml',
      );
      const located = documents[0]?.located;
      const kind = located?.definition.kind;
      const answer = await shared.client().request({
        method: 'POST',
        path: `${collection}?dryRun=All&fieldValidation=Strict`,
        body: kind?.source === 'crd' ? kind.crd : undefined,
      });
      const server = answer.status === 201 ? 'accepts' : 'rejects';
      const ours = definitions.length === 1 ? 'accepts' : 'rejects';
      assert.equal(ours, server, JSON.stringify({ diagnostics, answer: answer.body }));
    });
  }

  for (const [schema, text, message] of foundByServer) {
    test(`what only the server finds has its place in the definition: ${schema}`, async () => {
      const manifest = definitionOf(schema);
      const { definitions } = definitionParser.parse(manifest, 'a.yaml');
      const { definition, source } = definitions[0]!;
      assert.ok(definition.kind.source === 'crd');
      const answer = await shared.client().request({
        method: 'POST',
        path: `${collection}?dryRun=All&fieldValidation=Strict`,
        body: definition.kind.crd,
      });
      assert.equal(answer.status, 422);
      const causes = causesOf(answer.body as JsonObject);
      const [found] = crdDiagnostics(causes, source);
      assert.match(found?.message ?? '', message);
      const line = manifest.split('\n')[(found?.line ?? 0) - 1] ?? '';
      const column = (found?.column ?? 0) - 1;
      assert.ok(
        column >= line.indexOf(text) && column < line.indexOf(text) + 20,
        `${found?.line}:${found?.column} in ${line}`,
      );
    });
  }
});
