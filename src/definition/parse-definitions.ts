import { isJsonObject } from '../util/json.ts';
import { checkDocument, checkStranger } from './check-document.ts';
import type { Diagnostic } from './diagnostic.ts';
import { type Finding, locate } from './finding.ts';
import { resolveDefinition } from './resolve-definition.ts';
import { definitionSchema } from './schema/definition-schema.ts';
import { createSchemaCheck, type SchemaCheck } from './schema/schema-findings.ts';
import type { LocatedDefinition } from './source-map.ts';
import { valueAt } from './tree.ts';
import { readBoundedDocuments, type YamlDocument, type YamlFile } from './yaml/read-documents.ts';

/** More mistakes than this are not reported at once. */
const mostDiagnostics = 100;

export interface ParsedDefinitions {
  /** The documents without a mistake. None at all when the file has a syntax error. */
  readonly definitions: readonly LocatedDefinition[];
  /**
   * The refused documents as far as they could be understood, parts that could not be left out: only to look for more
   * mistakes in them (in expressions, say), never to run.
   */
  readonly drafts: readonly LocatedDefinition[];
  /** Everything that was found, by position; at most 100. */
  readonly diagnostics: readonly Diagnostic[];
  /** No syntax error: what is not among the documents is not in the file. */
  readonly isWhole: boolean;
  /** All documents, in the order of the file; empty ones left out. */
  readonly documents: readonly ParsedDocument[];
}

/** What became of one document of a file. */
export interface ParsedDocument {
  /** As written, where there is one. */
  readonly name?: string;
  readonly isAccepted: boolean;
  /** Undefined: not even name and kind could be understood. */
  readonly located?: LocatedDefinition;
  /** Its own; syntax errors are those of the file. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads files of definitions. */
export interface DefinitionParser {
  /**
   * Reads the definitions of one file (YAML or JSON, several documents). Each document is accepted or refused by itself, but
   * a file with a syntax error gives none. `file` is only a name for messages. Does not throw.
   */
  parse(text: string, file: string): ParsedDefinitions;
}

/** Compiles the schema of the format, which takes longer than to read a file: one parser is for many files. */
export function createDefinitionParser(): DefinitionParser {
  const checkSchema = createSchemaCheck(definitionSchema);
  return {
    parse: (text, file) => parseFile(readBoundedDocuments(text, file), checkSchema),
  };
}

function parseFile(
  { documents, syntaxErrors }: YamlFile,
  checkSchema: SchemaCheck,
): ParsedDefinitions {
  const results = documents.map((document) => checkOne(document, checkSchema));
  const doubles = findDoubles(results.map(({ located }) => located));
  const isAccepted = (result: CheckedDocument) =>
    syntaxErrors.length === 0 &&
    !result.diagnostics.some(isError) &&
    !(result.located !== undefined && doubles.has(result.located));
  const locatedOf = (result: CheckedDocument) => result.located ?? [];
  return {
    definitions: results.filter(isAccepted).flatMap(locatedOf),
    drafts: results.filter((result) => !isAccepted(result)).flatMap(locatedOf),
    diagnostics: arrangeDiagnostics([
      ...syntaxErrors,
      ...tellStrangersOnce(results).flatMap(({ diagnostics }) => diagnostics),
      ...doubles.values(),
    ]),
    isWhole: syntaxErrors.length === 0,
    documents: results.map((result) => {
      const { name, located, diagnostics } = result;
      const double = located && doubles.get(located);
      return {
        ...(name === undefined ? {} : { name }),
        ...(located === undefined ? {} : { located }),
        isAccepted: isAccepted(result) && located !== undefined,
        diagnostics: double === undefined ? diagnostics : [...diagnostics, double],
      };
    }),
  };
}

/**
 * Diagnostics as they are shown: in the order of the file, of one field at one place only the first (what a value that cannot
 * be read causes is not the author's mistake), at most 100. For whoever adds to those of a {@link DefinitionParser}.
 */
export function arrangeDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const unreadable = diagnostics.filter(({ code }) => code === 'yaml-syntax');
  const places = new Set(unreadable.map(placeOf));
  const values = new Set(unreadable.filter(({ path }) => path !== '').map(pointerOf));
  const seen = new Set<string>();
  // Of an error and a warning at one place the error stays: it decides.
  return diagnostics
    .toSorted((a, b) => Number(isError(b)) - Number(isError(a)))
    .filter((found) => {
      const place = `${placeOf(found)} ${found.path}`;
      const isEcho =
        found.code !== 'yaml-syntax' &&
        (places.has(placeOf(found)) || values.has(pointerOf(found)));
      if (isEcho || seen.has(place)) return false;
      seen.add(place);
      return true;
    })
    .toSorted((a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column)
    .slice(0, mostDiagnostics);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function placeOf({ file, line, column }: Diagnostic): string {
  return `${file}:${line}:${column}`;
}

function pointerOf({ file, path }: Diagnostic): string {
  return `${file}:${path}`;
}

interface CheckedDocument {
  readonly diagnostics: readonly Diagnostic[];
  readonly name?: string;
  /** Undefined for what is no definition at all. */
  readonly located?: LocatedDefinition;
  /** Something else than a definition: of such one diagnostic is enough. */
  readonly isStranger?: boolean;
}

/** A file of manifests is one mistake, not one for each of them. */
function tellStrangersOnce(results: readonly CheckedDocument[]): readonly CheckedDocument[] {
  const [first, ...others] = results.filter(({ isStranger }) => isStranger);
  if (first === undefined || others.length === 0) return results;
  const more = others.length === 1 ? '1 more document does' : `${others.length} more documents do`;
  const told = first.diagnostics.map((diagnostic) => ({
    ...diagnostic,
    hint: `${diagnostic.hint}; ${more} not`,
  }));
  return [{ diagnostics: told }, ...results.filter(({ isStranger }) => isStranger !== true)];
}

function checkOne(document: YamlDocument, checkSchema: SchemaCheck): CheckedDocument {
  const { value, source, garbledFrom } = document;
  const stranger = garbledFrom === undefined ? checkStranger(value) : undefined;
  if (stranger !== undefined) return { diagnostics: [locate(stranger, source)], isStranger: true };
  const name = valueAt(value, '/metadata/name');
  const named = typeof name === 'string' ? { name } : {};
  const findings = checkDocument(value, checkSchema).filter(
    (finding) => !followsFromSyntax(finding, document),
  );
  const diagnostics = [
    // Outside of `spec` nobody reads the words as anything but texts.
    ...document.warnings.filter(({ path }) => path.startsWith('/spec/')),
    ...findings.map((finding) => locate(finding, source)),
  ];
  if (garbledFrom !== undefined) {
    return { ...named, diagnostics: diagnostics.filter(({ line }) => line < garbledFrom) };
  }
  const resolved = resolveDefinition(value);
  return resolved === undefined || !isJsonObject(value)
    ? { ...named, diagnostics }
    : { ...named, diagnostics, located: { ...resolved, source, document: value } };
}

/** Where not all could be read, or was misread, what seems to be missing, empty or unknown need not be. */
function followsFromSyntax(
  { at, code, path }: Finding,
  { value, unread, garbledFrom }: YamlDocument,
): boolean {
  const isAbsence = at === 'parent-key' || code === 'missing-field';
  const parent = path.slice(0, path.lastIndexOf('/'));
  if (unread.has(path) || (isAbsence && unread.has(parent))) return true;
  if (garbledFrom === undefined) return false;
  return isAbsence || code === 'unknown-name' || valueAt(value, path) === null;
}

/** Later documents with a name that one before has. */
function findDoubles(
  all: readonly (LocatedDefinition | undefined)[],
): ReadonlyMap<LocatedDefinition, Diagnostic> {
  const seen = new Set<string>();
  const doubles = new Map<LocatedDefinition, Diagnostic>();
  for (const located of all) {
    if (located === undefined) continue;
    const { name } = located.definition;
    const message = `Definition "${name}" is there twice in this file`;
    const finding = { code: 'duplicate-id', path: '/metadata/name', message } as const;
    if (seen.has(name)) doubles.set(located, locate(finding, located.source));
    seen.add(name);
  }
  return doubles;
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}
