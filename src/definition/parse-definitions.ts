import { isJsonObject } from '../util/json.ts';
import { checkDocument } from './check-document.ts';
import type { Diagnostic } from './diagnostic.ts';
import { locate } from './finding.ts';
import { resolveDefinition } from './resolve-definition.ts';
import { definitionSchema } from './schema/definition-schema.ts';
import { createSchemaCheck, type SchemaCheck } from './schema/schema-findings.ts';
import type { LocatedDefinition } from './source-map.ts';
import { readDocuments, type YamlDocument } from './yaml/read-documents.ts';

/** More mistakes than this are not reported at once. */
const mostDiagnostics = 100;

export interface ParsedDefinitions {
  /** The documents without a mistake. None at all when the file has a syntax error. */
  readonly definitions: readonly LocatedDefinition[];
  /** Everything that was found, by position; at most 100. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the definitions of one file (YAML or JSON, several documents). Each document is accepted or refused by itself, but
 * a file with a syntax error gives none. `file` is only a name for messages. Does not throw.
 */
export function parseDefinitions(text: string, file: string): ParsedDefinitions {
  const { documents, syntaxErrors } = readDocuments(text, file);
  const checkSchema = createSchemaCheck(definitionSchema);
  const diagnostics: Diagnostic[] = [...syntaxErrors];
  const definitions: LocatedDefinition[] = [];
  for (const document of documents) {
    const found = diagnosticsOf(document, checkSchema);
    diagnostics.push(...found);
    if (found.some(({ severity }) => severity === 'error') || !isJsonObject(document.value))
      continue;
    if (syntaxErrors.length > 0) continue;
    definitions.push({ definition: resolveDefinition(document.value), source: document.source });
  }
  const doubles = findDoubles(definitions);
  return {
    definitions: definitions.filter((_, index) => !doubles.has(index)),
    diagnostics: arranged([...diagnostics, ...doubles.values()]),
  };
}

function diagnosticsOf(document: YamlDocument, checkSchema: SchemaCheck): readonly Diagnostic[] {
  const findings = checkDocument(document.value, checkSchema);
  return [...document.warnings, ...findings.map((finding) => locate(finding, document.source))];
}

/** Later documents with a name that one before has. */
function findDoubles(definitions: readonly LocatedDefinition[]): ReadonlyMap<number, Diagnostic> {
  const seen = new Set<string>();
  const doubles = new Map<number, Diagnostic>();
  for (const [index, { definition, source }] of definitions.entries()) {
    const { name } = definition;
    if (seen.has(name)) {
      const message = `Definition "${name}" is there twice in this file`;
      const finding = { code: 'duplicate-id', path: '/metadata/name', message } as const;
      doubles.set(index, locate(finding, source));
    }
    seen.add(name);
  }
  return doubles;
}

/** In the order of the file; at one place only the first: what an unreadable value causes is not the author's mistake. */
function arranged(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const syntax = new Set(
    diagnostics.filter(({ code }) => code === 'yaml-syntax').map((found) => placeOf(found)),
  );
  return diagnostics
    .filter((found) => found.code === 'yaml-syntax' || !syntax.has(placeOf(found)))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, mostDiagnostics);
}

function placeOf({ line, column }: Diagnostic): string {
  return `${line}:${column}`;
}
