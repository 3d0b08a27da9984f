import type { FunctionTools } from './functions.ts';
import { createJsonataCompiler, type JsonataCompiler } from './jsonata-compiler.ts';
import type { Expression, Leaf, LeafParser, LeafProblem, ParsedLeaf, Reference } from './leaf.ts';
import { type ExpressionPart, splitLeaf } from './leaf-text.ts';
import type { WorkedMs } from './meter.ts';
import { parseTemplate } from './template/template-parser.ts';

/** What the functions `$parseYaml`, `$yaml` and `$isReady` are made of; they belong to other rooms. */
export interface LeafParserOptions extends FunctionTools {
  /** Measures how long an expression searches, so that a busy machine makes no sound expression fail. @default the clock */
  readonly workedMs?: WorkedMs;
}

/**
 * Creates a parser of string leaves. Equal texts give the same leaf, so a compile makes one parser and keeps it no longer than its plan.
 * Evaluations of all its expressions may run at once.
 */
export function createLeafParser(options: LeafParserOptions): LeafParser {
  const { workedMs = () => performance.now() } = options;
  const compiler = createJsonataCompiler(options, { workedMs });
  const known = new Map<string, ParsedLeaf>();
  return {
    parse(text) {
      let leaf = known.get(text);
      if (leaf === undefined) {
        leaf = parseLeaf(text, compiler, options);
        known.set(text, leaf);
      }
      return leaf;
    },
  };
}

function parseLeaf(
  text: string,
  compiler: JsonataCompiler,
  options: LeafParserOptions,
): ParsedLeaf {
  const split = splitLeaf(text);
  switch (split.kind) {
    case 'problem':
      return { problems: [split.problem] };
    case 'template':
      return parseTemplate({ ...split, tools: options });
    case 'parts':
      return parseParts(split.parts, compiler);
  }
}

function parseParts(
  parts: readonly (string | ExpressionPart)[],
  compiler: JsonataCompiler,
): ParsedLeaf {
  const problems: LeafProblem[] = [];
  const compiled = parts.map((part) => {
    if (typeof part === 'string') return part;
    const { expression, problems: found } = compilePart(part, compiler);
    problems.push(...found);
    return { part, expression };
  });
  const alone = loneExpression(compiled);
  if (alone === undefined) problems.push(...modeProblems(parts));
  if (problems.some(({ severity }) => severity === 'error')) return { problems };
  return { leaf: alone === undefined ? textLeaf(compiled) : alone, problems };
}

type CompiledPart =
  | string
  | { readonly part: ExpressionPart; readonly expression: Expression | undefined };

/** A `${ }` with nothing but white space around it. */
function loneExpression(parts: readonly CompiledPart[]): Leaf | undefined {
  const rest = parts.filter((part) => typeof part !== 'string' || part.trim() !== '');
  const [only] = rest;
  if (rest.length !== 1 || only === undefined || typeof only === 'string') return undefined;
  // Without an expression there are errors, and nobody looks at the leaf.
  if (only.expression === undefined) return { kind: 'literal', text: '' };
  return { kind: 'value', mode: only.part.mode, expression: only.expression };
}

function textLeaf(parts: readonly CompiledPart[]): Leaf {
  const known = parts.flatMap((part): (string | Expression)[] => {
    if (typeof part === 'string') return [part];
    return part.expression === undefined ? [] : [part.expression];
  });
  if (known.every((part) => typeof part === 'string')) {
    return { kind: 'literal', text: known.join('') };
  }
  return { kind: 'text', parts: known };
}

function modeProblems(parts: readonly (string | ExpressionPart)[]): readonly LeafProblem[] {
  return parts.flatMap((part): LeafProblem[] => {
    if (typeof part === 'string' || part.mode === 'value') return [];
    const written = part.mode === 'optional' ? '${? }' : '${... }';
    return [
      {
        severity: 'error',
        code: 'expression-syntax',
        message: `Expected "${written}" to be the whole string`,
        hint: 'Write "${ }" within a text',
        offset: part.start,
      },
    ];
  });
}

function compilePart(
  part: ExpressionPart,
  compiler: JsonataCompiler,
): { readonly expression: Expression | undefined; readonly problems: readonly LeafProblem[] } {
  const { expression, problems } = compiler.compile(part);
  const placed = problems.map((problem) => ({ ...problem, offset: problem.offset + part.offset }));
  if (expression === undefined) return { expression: undefined, problems: placed };
  return {
    expression: {
      source: part.source,
      references: expression.references.map((reference) => shifted(reference, part.offset)),
      isPlainPath: expression.isPlainPath,
      evaluate: expression.evaluate,
      probe: expression.probe,
    },
    problems: placed,
  };
}

function shifted(reference: Reference, by: number): Reference {
  return {
    ...reference,
    offset: reference.offset + by,
    stepOffsets: reference.stepOffsets.map((offset) => offset + by),
  };
}
