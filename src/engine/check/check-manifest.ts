import {
  type CompileResult,
  type CoverageRecorder,
  compile,
  createDefaultLeafParser,
  createSchemaCompiler,
  type LeafParser,
  type OperatorPlan,
  type SchemaSource,
} from '#compile';
import {
  arrangeDiagnostics,
  createDefinitionParser,
  type DefinitionParser,
  type Diagnostic,
  type LocatedDefinition,
  locate,
  type ParsedDocument,
  unusedAcceptances,
  withoutAccepted,
} from '#definition';
import { httpFindings } from './http-objects/check-http-objects.ts';

/** Parses and compiles one manifest. Documents are accepted or rejected one by one. Pure. */
export type ManifestCheck = (text: DefinitionManifest) => CheckedManifest;

interface CheckOptions {
  readonly parser: DefinitionParser;
  readonly schemas: SchemaSource | undefined;
  readonly coverage: CoverageRecorder | undefined;
  readonly expressions: LeafParser;
}

/** A manifest after all checks that need neither other manifests nor a cluster. */
export interface CheckedManifest {
  /** No syntax error: `documents` lists every document of the manifest. */
  readonly isComplete: boolean;
  /** In the order of the manifest. */
  readonly documents: readonly CheckedDocument[];
  /** Diagnostics of all documents and of the manifest itself. Not sorted. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface CheckedDocument {
  /** As written. Undefined: not set. */
  readonly name?: string;
  /** Undefined: the document could not be parsed. */
  readonly located?: LocatedDefinition;
  /** Undefined: it has errors. */
  readonly plan?: OperatorPlan;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Creates a check to use for many manifests: it compiles the schemas of the format and of other kinds, and equal expressions, once. `schemas`: undefined if no schemas of other kinds are
 * available. `coverage` records what the plans evaluate, for tests of definitions.
 */
export function createManifestCheck(
  schemas: SchemaSource | undefined,
  coverage?: CoverageRecorder,
): ManifestCheck {
  const parser = createDefinitionParser();
  const shared = schemas && { compiler: createSchemaCompiler(), ...schemas };
  const expressions = createDefaultLeafParser();
  return (text) => checkManifest(text, { parser, schemas: shared, coverage, expressions });
}

/** Caches check results for a startup that checks each manifest twice. */
interface CheckCache {
  /** Checks a manifest and caches the result. */
  readonly fill: ManifestCheck;
  /** Returns and removes the cached result; checks the manifest if there is none. */
  readonly take: ManifestCheck;
}

/** Keeps all results of a check, for commands that check the same manifests several times. */
export function checkedOnce(check: ManifestCheck): ManifestCheck {
  const results = new Map<string, CheckedManifest>();
  return (manifest) => {
    const key = keyOf(manifest);
    const result = results.get(key) ?? check(manifest);
    results.set(key, result);
    return result;
  };
}

/** Plans are large: a result is removed from the cache when it is taken. */
export function createCheckCache(check: ManifestCheck): CheckCache {
  const cache = new Map<string, CheckedManifest>();
  return {
    fill(text) {
      const result = check(text);
      cache.set(keyOf(text), result);
      return result;
    },
    take(text) {
      const result = cache.get(keyOf(text)) ?? check(text);
      cache.delete(keyOf(text));
      return result;
    },
  };
}

function keyOf({ file, text }: DefinitionManifest): string {
  return `${file}\0${text}`;
}

function checkManifest(
  { file, text }: DefinitionManifest,
  { parser, schemas, coverage, expressions }: CheckOptions,
): CheckedManifest {
  const parsed = parser.parse(text, file);
  const compiled: Diagnostic[] = [];
  const documents = parsed.documents.map((document) => {
    // A rejected document is compiled, too, to report all errors at once.
    const { located } = document;
    const result = located && compileLocated(document, located, { schemas, coverage, expressions });
    compiled.push(...(result?.diagnostics ?? []));
    return checkedDocument(document, result);
  });
  const found = [...parsed.diagnostics, ...compiled];
  const diagnostics = isEmpty(parsed) ? [...found, emptyFileWarning(file)] : found;
  return { isComplete: parsed.isComplete, documents, diagnostics };
}

/** Compiles a definition. An accepted one is also checked for accepted warnings that it does not have. */
function compileLocated(
  { isAccepted }: ParsedDocument,
  located: LocatedDefinition,
  { schemas, coverage, expressions }: Omit<CheckOptions, 'parser'>,
): CompileResult {
  const compiled = compile(located, schemas, coverage, expressions);
  const result = withHttpFindings(compiled, located, expressions);
  if (!isAccepted || result.plan === undefined) return result;
  const unused = unusedAcceptances(result.accepted).map((each) => locate(each, located.source));
  return { ...result, diagnostics: [...result.diagnostics, ...unused] };
}

/** Adds what is wrong with objects behind HTTP. */
function withHttpFindings(
  result: CompileResult,
  located: LocatedDefinition,
  expressions: LeafParser,
): CompileResult {
  const findings = httpFindings(located, expressions);
  if (findings.length === 0) return result;
  const found = findings.map((finding) => locate(finding, located.source));
  const { diagnostics, accepted } = withoutAccepted(found, result.accepted);
  const { plan, ...rest } = result;
  const isValid = diagnostics.every(({ severity }) => severity === 'warning');
  return {
    ...rest,
    ...(isValid && plan !== undefined && { plan }),
    diagnostics: [...result.diagnostics, ...diagnostics],
    accepted,
  };
}

function checkedDocument(
  { name, located, isAccepted, diagnostics }: ParsedDocument,
  result: CompileResult | undefined,
): CheckedDocument {
  return {
    ...(name === undefined ? {} : { name }),
    ...(located === undefined ? {} : { located }),
    ...(isAccepted && result?.plan !== undefined ? { plan: result.plan } : {}),
    diagnostics: [...diagnostics, ...(result?.diagnostics ?? [])],
  };
}

function isEmpty({ documents, diagnostics }: ReturnType<DefinitionParser['parse']>): boolean {
  return documents.length === 0 && diagnostics.length === 0;
}

/** Only a warning: an empty file must not block other files. */
function emptyFileWarning(file: string): Diagnostic {
  const message = 'The file contains no definition';
  return {
    severity: 'warning',
    code: 'missing-field',
    message,
    file,
    line: 1,
    column: 1,
    path: '',
  };
}

/** One manifest with definitions: a file, a key of a ConfigMap, or an object. */
export interface DefinitionManifest {
  /** Name in diagnostics, for example the path as the user wrote it. */
  readonly file: string;
  readonly text: string;
}

/** The errors or the warnings, by position: `file:line:column: message. Hint`, one each. */
export function diagnosticLines(
  diagnostics: readonly Diagnostic[],
  severity: Diagnostic['severity'],
  format = diagnosticText,
): readonly string[] {
  return arrangeDiagnostics(diagnostics.filter((each) => each.severity === severity)).map(format);
}

/** Formats a diagnostic on one line: `file:line:column: message. Hint`. */
export function diagnosticText({ file, line, column, ...content }: Diagnostic): string {
  return `${file}:${line}:${column}: ${messageWithHint(content)}`;
}

/** Formats a diagnostic of an object on one line, with its field path: an object has no lines. */
export function diagnosticByPath({ file, path, ...content }: Diagnostic): string {
  const place = path === '' ? file : `${file}: ${path.slice(1).replaceAll('/', '.')}`;
  return `${place}: ${messageWithHint(content)}`;
}

/** `message. Hint` */
function messageWithHint({ message, hint }: Pick<Diagnostic, 'message' | 'hint'>): string {
  return hint === undefined ? message : `${message}. ${hint}`;
}
