import { type Document, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { Json } from '../../util/json.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { SourceMap } from '../source-map.ts';
import {
  type CutExpression,
  findCutExpression,
  hideExpression,
  holdsOpenExpression,
} from './cut-expression.ts';
import { type Excess, findExcess } from './find-excess.ts';
import { findForeign } from './find-foreign.ts';
import { type InspectedNodes, inspectNodes } from './inspect-nodes.ts';
import { createNodeSourceMap } from './node-source-map.ts';
import { cutMessage, type ParserError, syntaxMessage } from './syntax-message.ts';
import { toJson, type YamlProblem } from './to-json.ts';

/** One document of a file as plain JSON, and where its parts stand. */
export interface YamlDocument {
  readonly value: Json;
  readonly source: SourceMap;
  /** The file's syntax errors stand elsewhere; these are warnings about this document's values. */
  readonly warnings: readonly Diagnostic[];
  /** Pointers of the values of which not all could be read. */
  readonly unread: ReadonlySet<string>;
  /** From this line on the parser may have misread the structure (1-based); undefined: nowhere. */
  readonly garbledFrom: number | undefined;
}

export interface YamlFile {
  /** Without empty documents. When there are syntax errors: as far as they could be read. */
  readonly documents: readonly YamlDocument[];
  readonly syntaxErrors: readonly Diagnostic[];
}

/** One document as the parser gave it. */
interface Parsed {
  readonly document: Document.Parsed;
  readonly errors: readonly ParserError[];
  readonly targets: InspectedNodes['targets'];
}

/** A problem of the text (`yaml-syntax`, no path) unless it says otherwise. */
type SomeProblem = Omit<YamlProblem, 'code' | 'path'> & Partial<Pick<YamlProblem, 'code' | 'path'>>;

/** More broken expressions than this are not looked for in one file. */
const mostRepairs = 100;

/** Nor is more than this read again for their sake, in characters. */
const mostRead = 1_000_000;

/** Like {@link readDocuments}, but of a text that is none, or would take too long to read, it only says so: for texts of others. */
export function readBoundedDocuments(text: string, file: string): YamlFile {
  const obstacle = findForeign(text) ?? withHint(findExcess(text));
  if (obstacle === undefined) return readDocuments(text, file);
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    lines.addNewLine(at + 1);
  }
  const problem = { severity: 'error', ...obstacle } as const;
  return { documents: [], syntaxErrors: [diagnosticAt(problem, { file, lines })] };
}

function withHint(excess: Excess | undefined) {
  return excess && { ...excess, hint: 'Split it into several files' };
}

/**
 * Reads a file of YAML or JSON documents. An expression that YAML takes apart is reported and then hidden, so that what
 * stands behind it is still read and checked.
 */
export function readDocuments(text: string, file: string): YamlFile {
  const cuts: CutExpression[] = [];
  let readable = text;
  let lines = new LineCounter();
  let parsed = parse(readable, lines);
  while (cuts.length < mostRepairs && cuts.length * text.length < mostRead) {
    const cut = firstCut(parsed, readable);
    if (cut === undefined) break;
    cuts.push(cut);
    readable = hideExpression(readable, cut);
    lines = new LineCounter();
    parsed = parse(readable, lines);
  }

  const at = (problem: SomeProblem) => diagnosticAt(problem, { file, lines });
  const syntaxErrors: Diagnostic[] = cuts.map((cut) =>
    at({ severity: 'error', offset: cut.start, ...cutMessage(cut) }),
  );
  const documents: YamlDocument[] = [];
  for (const one of parsed) {
    const { document, targets } = one;
    const errors = tellingErrors(one, lines);
    for (const error of errors) {
      const offset = error.pos[0];
      syntaxErrors.push(at({ severity: 'error', offset, ...syntaxMessage(error, readable) }));
    }
    if (document.directives.yaml.version !== '1.2') {
      syntaxErrors.push(at(otherVersion(document)));
    }
    if (document.contents === null) continue;
    const garbledFrom = firstGarbledLine(errors, lines);
    const { value, problems } = toJson(document, targets);
    const isTelling = ({ offset }: YamlProblem) =>
      garbledFrom === undefined || lines.linePos(offset).line < garbledFrom;
    syntaxErrors.push(...problems.filter(isError).filter(isTelling).map(at));
    if (value === null) continue;
    documents.push({
      value,
      source: createNodeSourceMap({ file, text: readable, document, lines, targets }),
      unread: new Set(problems.filter(isError).map(({ path }) => path)),
      warnings: problems.filter((problem) => !isError(problem)).map(at),
      garbledFrom,
    });
  }
  return { documents, syntaxErrors };
}

function parse(text: string, lineCounter: LineCounter): readonly Parsed[] {
  const documents = parseAllDocuments(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'silent',
    // Looked for in `inspectNodes`: the library needs quadratic time.
    uniqueKeys: false,
  });
  return Array.isArray(documents) ? documents.map(inspected) : [];
}

function inspected(document: Document.Parsed): Parsed {
  const { targets, doubles } = inspectNodes(document);
  if (doubles.length === 0) return { document, targets, errors: document.errors };
  const more = doubles.map((offset): ParserError => {
    return { code: 'DUPLICATE_KEY', message: 'Map keys must be unique', pos: [offset, offset + 1] };
  });
  const errors: readonly ParserError[] = [...document.errors, ...more];
  return { document, targets, errors: errors.toSorted((a, b) => a.pos[0] - b.pos[0]) };
}

/** The first expression that made the parser stumble, or that it silently took for a comment or a field. */
function firstCut(parsed: readonly Parsed[], text: string): CutExpression | undefined {
  for (const { document, errors } of parsed) {
    const [error] = errors;
    const cut = error && findCutExpression(text, error.pos[0]);
    if (cut !== undefined) return cut;
    const silent = firstSilentCut(document, text);
    if (silent !== undefined) return silent;
  }
  return undefined;
}

function firstSilentCut(document: Document.Parsed, text: string): CutExpression | undefined {
  let cut: CutExpression | undefined;
  visit(document, {
    Scalar(_key, node) {
      if (!isScalar(node) || node.type !== 'PLAIN' || typeof node.value !== 'string') return;
      if (!holdsOpenExpression(node.value) || node.range == null) return;
      cut = findCutExpression(text, node.range[0]);
      return cut === undefined ? undefined : visit.BREAK;
    },
  });
  return cut;
}

/**
 * The errors that tell something new: the first of each line, and none of those that only say that the parser is lost.
 * An unsupported directive is an error too.
 */
function tellingErrors(
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
    // A tab deranges what stands around it, also the line above.
    if (hasTab && error.code !== 'TAB_AS_INDENT' && !harmless.has(error.code)) return false;
    seen.add(line);
    return true;
  });
}

/** Errors after which the structure is still what the author meant. */
const harmless: ReadonlySet<string> = new Set([
  'DUPLICATE_KEY',
  'BAD_SCALAR_START',
  'BAD_DQ_ESCAPE',
  'BAD_DIRECTIVE',
]);

function firstGarbledLine(errors: readonly ParserError[], lines: LineCounter): number | undefined {
  const garbling = errors.filter(({ code }) => !harmless.has(code));
  const numbers = garbling.map(({ pos }) => lines.linePos(pos[0]).line);
  return numbers.length === 0 ? undefined : numbers.reduce((a, b) => Math.min(a, b));
}

function otherVersion(document: Document.Parsed): SomeProblem {
  return {
    severity: 'error',
    message: `Expected YAML 1.2, found "%YAML ${document.directives.yaml.version}"`,
    hint: 'Leave the %YAML line out',
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
