import type { Json } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type Diagnostic, locate } from '../finding.ts';
import { arrangeDiagnostics } from '../parse-definitions.ts';
import { definitionApiVersion } from '../schema/definition-schema.ts';
import {
  enumSchema,
  type JsonSchema,
  listSchema,
  mapSchema,
  objectSchema,
  stringSchema,
} from '../schema/json-schema.ts';
import { createSchemaCheck } from '../schema/schema-findings.ts';
import { fieldOf, itemsAt, mapAt, valueAt } from '../tree.ts';
import { readBoundedDocuments } from '../yaml/read-documents.ts';
import { type TestHttpApi, testApisOf, testApisSchema } from './test-apis.ts';

/** What random resources of a definition are made of, for `homeostat test --fuzz`. */
export interface OperatorFuzz {
  /** Name of the definition. */
  readonly definition: string;
  /** Objects that exist before the operators start. */
  readonly given: readonly KubeObject[];
  /** Simulated HTTP APIs. */
  readonly apis: readonly TestHttpApi[];
  /** By JSON pointer below the resource, `*` for any item: the only values of a field. */
  readonly values: Readonly<Record<string, readonly Json[]>>;
  /** Rules that do not hold for the definition by intention. */
  readonly skip: readonly FuzzRule[];
}

/** A rule that must hold for every resource in every history (docs/testing.md#random-resources). */
export type FuzzRule = (typeof fuzzRules)[number];

const fuzzRules = [
  'idle',
  'flapping',
  'second-reconcile',
  'stalled',
  'missing-number',
  'reverse-edit',
  'deletion',
  'nothing-left',
  'error-log',
] as const;

export const operatorFuzzKind = 'OperatorFuzz';

/** The JSON schema of `kind: OperatorFuzz`. */
export const operatorFuzzSchema: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://homeostat.dev/schemas/operator-fuzz.schema.json',
  ...objectSchema(
    'Limits the random resources of `homeostat test --fuzz`.',
    {
      apiVersion: { const: definitionApiVersion, type: 'string', description: 'API version.' },
      kind: { const: operatorFuzzKind, type: 'string', description: 'Kind.' },
      metadata: {
        type: 'object',
        description: 'Name of the document.',
        required: ['name'],
        properties: { name: stringSchema('Name.') },
      },
      spec: objectSchema(
        'Limits.',
        {
          definition: stringSchema('Name of the definition.', { examples: ['web-app'] }),
          given: listSchema('Objects that exist before the operators start.', {
            type: 'object',
            description: 'An object.',
            title: 'an object with "apiVersion", "kind" and "metadata"',
            required: ['apiVersion', 'kind', 'metadata'],
          }),
          apis: testApisSchema,
          values: mapSchema(
            'The only values of a field, by JSON pointer below the resource; `*` is any item: `/spec/hosts/*`.',
            { ...listSchema('The values.', { description: 'A value.' }), minItems: 1 },
          ),
          skip: listSchema(
            'Rules that do not hold for the definition by intention.',
            enumSchema('A rule.', fuzzRules),
          ),
        },
        ['definition'],
      ),
    },
    ['apiVersion', 'kind', 'metadata', 'spec'],
  ),
};

interface ParsedOperatorFuzz {
  /** The documents without an error. */
  readonly limits: readonly OperatorFuzz[];
  readonly diagnostics: readonly Diagnostic[];
}

const checkSchema = createSchemaCheck(operatorFuzzSchema);

/** Reads the documents of kind `OperatorFuzz` in a file; others are skipped. `file` is a name for messages. Does not throw. */
export function parseOperatorFuzz(text: string, file: string): ParsedOperatorFuzz {
  const { documents, syntaxErrors } = readBoundedDocuments(text, file, 'kubectl');
  const limits: OperatorFuzz[] = [];
  const diagnostics: Diagnostic[] = [...syntaxErrors];
  for (const { value, source, warnings } of documents) {
    if (fieldOf(value, 'kind') !== operatorFuzzKind) continue;
    const found = checkSchema(value).map((finding) => locate(finding, source));
    diagnostics.push(...warnings, ...found);
    if (!found.some(({ severity }) => severity === 'error')) limits.push(limitsOf(value));
  }
  return { limits, diagnostics: arrangeDiagnostics(diagnostics) };
}

function limitsOf(document: Json): OperatorFuzz {
  return {
    definition: String(valueAt(document, '/spec/definition')),
    given: itemsAt(document, '/spec/given').map(({ value }) => value as KubeObject),
    apis: testApisOf(document, '/spec/apis'),
    values: mapAt(document, '/spec/values') as OperatorFuzz['values'],
    skip: itemsAt(document, '/spec/skip').map(({ value }) => value as FuzzRule),
  };
}
