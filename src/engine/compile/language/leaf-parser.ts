import type { FunctionDependencies } from './functions/language-function.ts';
import {
  type Compilation,
  createJsonataCompiler,
  type JsonataCompiler,
} from './jsonata-compiler.ts';
import type { Expression, Leaf, LeafParser, LeafProblem, ParsedLeaf, Reference } from './leaf.ts';
import { type ExpressionPart, splitLeaf } from './leaf-text.ts';
import type { ResultType } from './result-types.ts';
import { parseTemplate } from './template/template-parser.ts';

/** At most this many leaves are cached: a parser can serve all definitions of a process. */
const maxCached = 10_000;

/**
 * Creates a parser of string leaves. It caches leaves by their source, which definitions may share. Expressions may be evaluated concurrently.
 */
export function createLeafParser(tools: FunctionDependencies): LeafParser {
  const compiler = createJsonataCompiler(tools);
  const known = new Map<string, ParsedLeaf>();
  return {
    parse(text) {
      let leaf = known.get(text);
      if (leaf === undefined) {
        leaf = parseLeaf(text, compiler, tools);
        if (known.size >= maxCached) known.clear();
        known.set(text, leaf);
      }
      return leaf;
    },
  };
}

function parseLeaf(
  text: string,
  compiler: JsonataCompiler,
  tools: FunctionDependencies,
): ParsedLeaf {
  const split = splitLeaf(text);
  switch (split.kind) {
    case 'problem':
      return { problems: [split.problem] };
    case 'template':
      return parseTemplate({ ...split, tools });
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
    return expression;
  });
  const alone = lonePart(parts);
  if (alone === undefined) problems.push(...modeProblems(parts));
  const isFlawed = problems.some(({ severity }) => severity === 'error');
  const known = compiled.filter((part) => part !== undefined);
  return isFlawed ? { problems } : { leaf: leafOf(known, alone), problems };
}

/** A single `${ }`, possibly surrounded by white space. */
function lonePart(parts: readonly (string | ExpressionPart)[]): ExpressionPart | undefined {
  const [only, ...more] = parts.filter((part) => typeof part !== 'string' || part.trim() !== '');
  return typeof only === 'string' || more.length > 0 ? undefined : only;
}

function leafOf(parts: readonly (string | Expression)[], alone: ExpressionPart | undefined): Leaf {
  const expression = parts.find((part) => typeof part !== 'string');
  if (expression === undefined) return { kind: 'literal', text: parts.join('') };
  return alone === undefined
    ? { kind: 'text', parts }
    : { kind: 'value', mode: alone.mode, expression };
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
        hint: 'Use "${ }" inside a longer string',
        offset: part.start,
      },
    ];
  });
}

function compilePart(part: ExpressionPart, compiler: JsonataCompiler): Compilation {
  const { expression, problems } = compiler.compile(part);
  const placed = problems.map((problem) => ({ ...problem, offset: problem.offset + part.offset }));
  if (expression === undefined) return { problems: placed };
  const references = expression.references.map((reference) => shifted(reference, part.offset));
  const { offset } = part;
  const moved = (all: readonly ResultType[]) => all.map((each) => movedResult(each, offset));
  const results = moved(expression.results);
  const comparisons = expression.comparisons.map((each) => ({
    ...each,
    path: each.path + offset,
  }));
  const { nestedList } = expression;
  const operands = expression.operands.map((each) => ({ ...each, results: moved(each.results) }));
  return {
    expression: {
      ...expression,
      ...(nestedList !== undefined && { nestedList: nestedList + offset }),
      references,
      results,
      comparisons,
      operands,
      offset,
    },
    problems: placed,
  };
}

function movedResult(result: ResultType, by: number): ResultType {
  const offset = result.offset + by;
  if (result.kind !== 'number' || result.fractionPaths === undefined) return { ...result, offset };
  return { ...result, offset, fractionPaths: result.fractionPaths.map((path) => path + by) };
}

function shifted(reference: Reference, by: number): Reference {
  return {
    ...reference,
    offset: reference.offset + by,
    stepOffsets: reference.stepOffsets.map((offset) => offset + by),
  };
}
