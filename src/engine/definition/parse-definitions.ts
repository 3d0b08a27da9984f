import { didYouMean } from '#util/did-you-mean.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { acceptedWarningsOf, withoutAccepted } from './accepted-warnings.ts';
import { type Diagnostic, type Finding, type LocatedDefinition, locate } from './finding.ts';
import { resolveDefinition } from './resolve-definition.ts';
import { allRules } from './rules/all-rules.ts';
import { checkWholeCrd, isWholeCrd } from './rules/crd-names.ts';
import {
  definitionApiVersion,
  definitionKind,
  definitionSchema,
} from './schema/definition-schema.ts';
import { createSchemaCheck, withoutConsequences } from './schema/schema-findings.ts';
import { describeFound, fieldOf, valueAt } from './tree.ts';
import { readBoundedDocuments, type YamlDocument, type YamlFile } from './yaml/read-documents.ts';

/** Diagnostics that are reported at once. */
const maxDiagnostics = 100;

interface ParsedDefinitions {
  /** The documents without errors. Empty when the file has a syntax error. */
  readonly definitions: readonly LocatedDefinition[];
  /** All diagnostics by position, at most 100. */
  readonly diagnostics: readonly Diagnostic[];
  /** The file has no syntax error, so `documents` contains all of its documents. */
  readonly isComplete: boolean;
  /** All non-empty documents, in the order of the file. */
  readonly documents: readonly ParsedDocument[];
}

/** The result for one document of a file. */
export interface ParsedDocument {
  /** `metadata.name` as written, if present. */
  readonly name?: string;
  readonly isAccepted: boolean;
  /**
   * For a rejected document: the parts that could be read. Use it only to find more errors (for example in
   * expressions), never to run it. Undefined if name or kind could not be read.
   */
  readonly located?: LocatedDefinition;
  /** Diagnostics of this document; syntax errors belong to the file. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses and validates definition files. */
export interface DefinitionParser {
  /**
   * Parses one file (YAML or JSON, several documents). Each document is accepted or rejected on its own, but a file
   * with a syntax error yields no definitions. `file` is only used in messages. Does not throw.
   */
  parse(text: string, file: string): ParsedDefinitions;
}

const checkSchema = createSchemaCheck(definitionSchema);

export function createDefinitionParser(): DefinitionParser {
  return {
    parse: (text, file) => parseFile(readBoundedDocuments(text, file, 'definition')),
  };
}

function parseFile({ documents, syntaxErrors }: YamlFile): ParsedDefinitions {
  const results = documents.map(checkOne);
  const duplicates = findDuplicates(results.map(({ located }) => located));
  const all = results.map(({ name, located, diagnostics }): ParsedDocument => {
    const duplicate = located && duplicates.get(located);
    const isValid = duplicate === undefined && !diagnostics.some(isError);
    return {
      ...(name === undefined ? {} : { name }),
      ...(located === undefined ? {} : { located }),
      isAccepted: located !== undefined && isValid && syntaxErrors.length === 0,
      diagnostics: duplicate === undefined ? diagnostics : [...diagnostics, duplicate],
    };
  });
  return {
    definitions: all.flatMap(({ isAccepted, located }) => (isAccepted && located ? [located] : [])),
    diagnostics: arrangeDiagnostics([
      ...syntaxErrors,
      ...mergeForeignDocuments(results).flatMap(({ diagnostics }) => diagnostics),
      ...duplicates.values(),
    ]),
    isComplete: syntaxErrors.length === 0,
    documents: all,
  };
}

/**
 * Sorts diagnostics by position and keeps one for each field and position, at most 100. Drops those caused by a value
 * that could not be read. For callers that add diagnostics to those of a {@link DefinitionParser}.
 */
export function arrangeDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const unreadable = diagnostics.filter(({ code }) => code === 'yaml-syntax');
  const places = new Set(unreadable.map(positionKey));
  const values = new Set(unreadable.filter(({ path }) => path !== '').map(pointerKey));
  const seen = new Set<string>();
  // An error takes precedence over a warning at the same position.
  return diagnostics
    .toSorted((a, b) => Number(isError(b)) - Number(isError(a)))
    .filter((found) => {
      const place = `${positionKey(found)} ${found.path}`;
      const isEcho =
        found.code !== 'yaml-syntax' &&
        (places.has(positionKey(found)) || values.has(pointerKey(found)));
      if (isEcho || seen.has(place)) return false;
      seen.add(place);
      return true;
    })
    .toSorted((a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column)
    .slice(0, maxDiagnostics);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function positionKey({ file, line, column }: Diagnostic): string {
  return `${file}:${line}:${column}`;
}

function pointerKey({ file, path }: Diagnostic): string {
  return `${file}:${path}`;
}

interface CheckedDocument {
  readonly diagnostics: readonly Diagnostic[];
  readonly name?: string;
  /** Undefined if the document is not a definition. */
  readonly located?: LocatedDefinition;
  /** The document is not a definition; one diagnostic covers all such documents. */
  readonly isForeign?: boolean;
}

/** Reports a file of other manifests once instead of once for each document. */
function mergeForeignDocuments(results: readonly CheckedDocument[]): readonly CheckedDocument[] {
  const [first, ...others] = results.filter(({ isForeign: isStranger }) => isStranger);
  if (first === undefined || others.length === 0) return results;
  const more = others.length === 1 ? 'document is no definition' : 'documents are no definitions';
  const merged = first.diagnostics.map((diagnostic) => ({
    ...diagnostic,
    hint: `${diagnostic.hint}; ${others.length} more ${more}`,
  }));
  return [
    { diagnostics: merged },
    ...results.filter(({ isForeign: isStranger }) => isStranger !== true),
  ];
}

function checkOne(document: YamlDocument): CheckedDocument {
  const { value, source, unreliableFrom } = document;
  const notDefinition = checkIsDefinition(value);
  if (notDefinition !== undefined && unreliableFrom === undefined) {
    return { diagnostics: [locate(notDefinition, source)], isForeign: true };
  }
  const name = valueAt(value, '/metadata/name');
  const named = typeof name === 'string' ? { name } : {};
  const all = notDefinition === undefined ? checkDocument(value) : [notDefinition];
  const findings = all.filter((finding) => !isCausedBySyntaxError(finding, document));
  const found = [...document.warnings, ...findings.map((finding) => locate(finding, source))];
  const remaining = withoutAccepted(found, acceptedWarningsOf(value));
  const { diagnostics, accepted: acceptedWarnings } = remaining;
  if (unreliableFrom !== undefined) {
    return { ...named, diagnostics: diagnostics.filter(({ line }) => line < unreliableFrom) };
  }
  const resolved = resolveDefinition(value);
  return resolved === undefined || !isJsonObject(value)
    ? { ...named, diagnostics }
    : {
        ...named,
        diagnostics,
        located: { ...resolved, source, document: value, acceptedWarnings },
      };
}

/** Where a part was unreadable or misread, a value that seems missing, empty or unknown may exist. */
function isCausedBySyntaxError(
  { at, code, path }: Finding,
  { value, unread, unreliableFrom }: YamlDocument,
): boolean {
  const isAbsence = at === 'parent-key' || code === 'missing-field';
  const parent = path.slice(0, path.lastIndexOf('/'));
  if (unread.has(path) || (isAbsence && unread.has(parent))) return true;
  if (unreliableFrom === undefined) return false;
  return isAbsence || code === 'unknown-name' || valueAt(value, path) === null;
}

/** Documents whose name an earlier document has. */
function findDuplicates(
  all: readonly (LocatedDefinition | undefined)[],
): ReadonlyMap<LocatedDefinition, Diagnostic> {
  const seen = new Set<string>();
  const duplicates = new Map<LocatedDefinition, Diagnostic>();
  for (const located of all) {
    if (located === undefined) continue;
    const { name } = located.definition;
    const message = `Definition "${name}" is defined twice in this file`;
    const finding = { code: 'duplicate-id', path: '/metadata/name', message } as const;
    if (seen.has(name)) duplicates.set(located, locate(finding, located.source));
    seen.add(name);
  }
  return duplicates;
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

/** All findings of one document: those of the schema first, and one for each path. */
function checkDocument(document: Json): readonly Finding[] {
  if (!isJsonObject(document)) {
    const message = `Expected a map, found ${describeFound(document)}`;
    return [{ code: 'wrong-type', path: '', message }];
  }
  const isPasted = isWholeCrd(valueAt(document, '/spec/crd'));
  const rules = isPasted ? [checkWholeCrd, ...allRules] : allRules;
  const findings = [...checkSchema(document), ...rules.flatMap((rule) => [...rule(document)])];
  const relevant = isPasted
    ? findings.filter(({ path }) => !path.startsWith('/spec/crd/'))
    : findings;
  return firstOfEachPath(withoutConsequences(relevant));
}

/** Reports a document of another kind or without one. The schema reports a mistyped kind. */
function checkIsDefinition(document: Json): Finding | undefined {
  if (!isJsonObject(document)) return undefined;
  const hint = `A definition has "apiVersion: ${definitionApiVersion}" and "kind: ${definitionKind}"`;
  const kind = fieldOf(document, 'kind');
  if (isNotKubernetesObject(document)) {
    const message = `Expected a definition, found a document without "apiVersion" and "kind"`;
    return { code: 'missing-field', path: '', message, hint };
  }
  if (typeof kind !== 'string' || didYouMean(kind, [definitionKind]) !== undefined)
    return undefined;
  const message = `Expected "${definitionKind}", found ${describeFound(kind)}`;
  const isOwn = document.apiVersion === definitionApiVersion;
  return {
    ...{ code: 'invalid-value', path: '/kind', message },
    hint: isOwn ? 'Put it into the folder "samples" beside the definitions' : hint,
  };
}

/** A file that is not a Kubernetes object, such as chart values or a Compose file. */
function isNotKubernetesObject(document: JsonObject): boolean {
  return !['apiVersion', 'kind', 'spec'].some((field) => Object.hasOwn(document, field));
}

function firstOfEachPath(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ path }) => {
    const isFirst = !seen.has(path);
    seen.add(path);
    return isFirst;
  });
}
