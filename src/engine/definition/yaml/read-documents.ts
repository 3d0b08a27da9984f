import {
  type Document,
  LineCounter,
  parseAllDocuments,
  type ScalarTag,
  type SchemaOptions,
} from 'yaml';
import type { Json } from '#util/json.ts';
import type { Diagnostic, SourceMap } from '../finding.ts';
import { type CutExpression, findCutExpression, maskExpression } from './cut-expression.ts';
import { type InspectedNodes, inspectNodes } from './inspect-nodes.ts';
import { kubectlScalar, mayBeNoString } from './kubectl-scalars.ts';
import { createNodeSourceMap } from './node-source-map.ts';
import type { YamlReading } from './scalar-value.ts';
import { cutMessage, type ParserError, syntaxMessage } from './syntax-message.ts';
import { findBinaryContent, findTextLimitViolation } from './text-limits.ts';
import { toJson, type YamlProblem } from './to-json.ts';
import { type YamlNode, yamlTree } from './yaml-tree.ts';

/** One document of a file as plain JSON, with the positions of its parts. */
export interface YamlDocument {
  readonly value: Json;
  readonly source: SourceMap;
  /** Warnings about values of this document; syntax errors are in {@link YamlFile}. */
  readonly warnings: readonly Diagnostic[];
  /** Pointers of values that could not be read completely. */
  readonly unread: ReadonlySet<string>;
  /** The first line from which the parser may have misread the structure (1-based); undefined: none. */
  readonly unreliableFrom: number | undefined;
  /** The document as it is written, for editors. Computed when it is called. Undefined: nothing could be read. */
  tree(): YamlNode | undefined;
}

export interface YamlFile {
  /** Non-empty documents. If there are syntax errors: the parts that could be read. */
  readonly documents: readonly YamlDocument[];
  readonly syntaxErrors: readonly Diagnostic[];
}

/** One document as parsed by the library. */
interface Parsed {
  readonly document: Document.Parsed;
  readonly errors: readonly ParserError[];
  readonly targets: InspectedNodes['targets'];
  readonly openExpressions: InspectedNodes['openExpressions'];
}

/** By default a `yaml-syntax` problem without a path. */
type SomeProblem = Omit<YamlProblem, 'code' | 'path'> & Partial<Pick<YamlProblem, 'code' | 'path'>>;

/** Broken expressions that are masked in one file. */
const maxRepairs = 100;

/** Characters that are parsed again to mask broken expressions. */
const maxRereadCharacters = 1_000_000;

/**
 * Like {@link readDocuments}, but does not parse binary content or input over the size limits; it reports these as
 * one error. Use it for untrusted input.
 */
export function readBoundedDocuments(text: string, file: string, reading: YamlReading): YamlFile {
  const obstacle = findBinaryContent(text) ?? findTextLimitViolation(text);
  if (obstacle === undefined) return readDocuments(text, file, reading);
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    lines.addNewLine(at + 1);
  }
  const problem = { severity: 'error', ...obstacle } as const;
  return { documents: [], syntaxErrors: [diagnosticAt(problem, { file, lines })] };
}

/**
 * Parses a file of YAML or JSON documents. An expression that breaks the YAML syntax is reported and masked, so that
 * the rest of the file is still parsed and checked.
 * @param mostRepairs How many are masked; each of them is a parse of the text.
 */
export function readDocuments(
  text: string,
  file: string,
  reading: YamlReading,
  mostRepairs = maxRepairs,
): YamlFile {
  const { cuts, readable, lines, parsed } = readMasked(text, reading, mostRepairs);
  const at = (problem: SomeProblem) => diagnosticAt(problem, { file, lines });
  const syntaxErrors: Diagnostic[] = cuts.map((cut) =>
    at({ severity: 'error', offset: cut.start, ...cutMessage(cut) }),
  );
  const documents: YamlDocument[] = [];
  for (const one of parsed) {
    const { document, targets } = one;
    const errors = relevantErrors(one, lines);
    for (const error of errors) {
      const offset = error.pos[0];
      syntaxErrors.push(at({ severity: 'error', offset, ...syntaxMessage(error, readable) }));
    }
    if (document.directives.yaml.version !== '1.2') {
      syntaxErrors.push(at(unsupportedVersion(document, reading)));
    }
    if (document.contents === null) continue;
    const unreliableFrom = firstUnreliableLine(errors, lines);
    const { value, problems } = toJson(document, { targets, reading });
    const isReliable = ({ offset }: YamlProblem) =>
      unreliableFrom === undefined || lines.linePos(offset).line < unreliableFrom;
    syntaxErrors.push(...problems.filter(isError).filter(isReliable).map(at));
    if (value === null) continue;
    documents.push({
      value,
      source: createNodeSourceMap({ file, text: readable, document, lines, targets, reading }),
      unread: new Set(problems.filter(isError).map(({ path }) => path)),
      warnings: problems.filter((problem) => !isError(problem)).map(at),
      unreliableFrom,
      tree: () => yamlTree(document, { targets, reading }),
    });
  }
  return { documents, syntaxErrors };
}

/** The expressions that YAML syntax cuts, by their offsets in the text. */
export function findCuts(text: string, reading: YamlReading): readonly CutExpression[] {
  const isReadable = (findBinaryContent(text) ?? findTextLimitViolation(text)) === undefined;
  return isReadable ? readMasked(text, reading).cuts : [];
}

/** The first expression that YAML syntax cuts. */
export function findFirstCut(text: string, reading: YamlReading): CutExpression | undefined {
  const obstacle = findBinaryContent(text) ?? findTextLimitViolation(text);
  return obstacle === undefined
    ? firstCut(parse(text, new LineCounter(), reading), text, reading)
    : undefined;
}

/** A text as it was parsed: without its cut expressions, whose characters are replaced. */
interface MaskedText {
  readonly cuts: readonly CutExpression[];
  readonly readable: string;
  readonly lines: LineCounter;
  readonly parsed: readonly Parsed[];
}

function readMasked(text: string, reading: YamlReading, mostRepairs = maxRepairs): MaskedText {
  const cuts: CutExpression[] = [];
  let readable = text;
  let lines = new LineCounter();
  let parsed = parse(readable, lines, reading);
  while (cuts.length < mostRepairs && cuts.length * text.length < maxRereadCharacters) {
    const cut = firstCut(parsed, readable, reading);
    if (cut === undefined) break;
    cuts.push(cut);
    readable = maskExpression(readable, cut);
    lines = new LineCounter();
    parsed = parse(readable, lines, reading);
  }
  return { cuts, readable, lines, parsed };
}

/** Most plain scalars are texts by their first character: those need no test of the other types. */
const plainText: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  test: /^[^-+.\d~nNtTfF]/,
  resolve: (text) => text,
};

/** Most plain scalars are strings to kubectl too. */
const plainForKubectl: ScalarTag = {
  tag: 'tag:homeostat.dev,2026:plain',
  default: true,
  test: mayBeNoString,
  resolve: (text) => kubectlScalar(text),
};

const schemas = {
  definition: { customTags: (tags) => [plainText, ...tags] },
  kubectl: {
    schema: 'failsafe',
    resolveKnownTags: false,
    customTags: (tags) => [plainForKubectl, ...tags],
  },
} satisfies Record<YamlReading, SchemaOptions>;

function parse(text: string, lineCounter: LineCounter, reading: YamlReading): readonly Parsed[] {
  const documents = parseAllDocuments(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'silent',
    // `inspectNodes` finds duplicates; the library takes quadratic time.
    uniqueKeys: false,
    ...schemas[reading],
  });
  return Array.isArray(documents) ? documents.map(inspected) : [];
}

function inspected(document: Document.Parsed): Parsed {
  const { duplicateKeys, ...found } = inspectNodes(document);
  if (duplicateKeys.length === 0) return { document, ...found, errors: document.errors };
  const more = duplicateKeys.map((offset): ParserError => {
    return { code: 'DUPLICATE_KEY', message: 'Map keys must be unique', pos: [offset, offset + 1] };
  });
  const errors: readonly ParserError[] = [...document.errors, ...more];
  return { document, ...found, errors: errors.toSorted((a, b) => a.pos[0] - b.pos[0]) };
}

/** The first expression that caused a parser error, or part of which was parsed as a comment or a field. */
function firstCut(
  parsed: readonly Parsed[],
  text: string,
  reading: YamlReading,
): CutExpression | undefined {
  for (const { errors, openExpressions } of parsed) {
    const [error] = errors;
    const cut = error && findCutExpression(text, error.pos[0]);
    if (cut !== undefined) return cut;
    // Other objects may have such strings: `${` of a shell.
    if (reading === 'kubectl') continue;
    for (const offset of openExpressions) {
      const silent = findCutExpression(text, offset);
      if (silent !== undefined) return silent;
    }
  }
  return undefined;
}

/**
 * The first error of each line, without errors that follow from an earlier one. An unsupported directive is also an error.
 */
function relevantErrors(
  { document, errors: found }: Parsed,
  lines: LineCounter,
): readonly ParserError[] {
  const errors: readonly ParserError[] = [...document.warnings, ...found];
  const hasTab = errors.some(({ code }) => code === 'TAB_AS_INDENT');
  const seen = new Set<number>();
  return errors.filter((error, index) => {
    const { line } = lines.linePos(error.pos[0]);
    if (error.code === 'TAG_RESOLVE_FAILED') return false; // the conversion to JSON reports tags
    const isLost = index > 0 && error.message.includes('in YAML stream');
    if (isLost || seen.has(line)) return false;
    // A tab also causes errors on adjacent lines.
    if (hasTab && error.code !== 'TAB_AS_INDENT' && !recoverableErrors.has(error.code))
      return false;
    seen.add(line);
    return true;
  });
}

/** Errors after which the parsed structure is still correct. */
const recoverableErrors: ReadonlySet<string> = new Set([
  'DUPLICATE_KEY',
  'BAD_SCALAR_START',
  'BAD_DQ_ESCAPE',
  'BAD_DIRECTIVE',
]);

function firstUnreliableLine(
  errors: readonly ParserError[],
  lines: LineCounter,
): number | undefined {
  const garbling = errors.filter(({ code }) => !recoverableErrors.has(code));
  const numbers = garbling.map(({ pos }) => lines.linePos(pos[0]).line);
  return numbers.length === 0 ? undefined : numbers.reduce((a, b) => Math.min(a, b));
}

function unsupportedVersion(document: Document.Parsed, reading: YamlReading): SomeProblem {
  const found = `"%YAML ${document.directives.yaml.version}"`;
  return {
    severity: 'error',
    message: reading === 'definition' ? `Expected YAML 1.2, found ${found}` : `Unexpected ${found}`,
    hint: 'Remove the %YAML directive',
    offset: document.range[0],
  };
}

function diagnosticAt(
  problem: SomeProblem,
  { file, lines }: { readonly file: string; readonly lines: LineCounter },
): Diagnostic {
  const { line, col } = lines.linePos(problem.offset);
  return {
    severity: problem.severity,
    code: problem.code ?? 'yaml-syntax',
    message: problem.message,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    file,
    line: Math.max(1, line),
    column: Math.max(1, col),
    path: problem.path ?? '',
  };
}

function isError(problem: YamlProblem): boolean {
  return problem.severity === 'error';
}
