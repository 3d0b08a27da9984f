import { toExpressionError } from '../evaluation-error.ts';
import type { FunctionDependencies } from '../functions/language-function.ts';
import type { LeafProblem, ParsedLeaf, Reference, Scope } from '../leaf.ts';
import { limits } from '../limits.ts';
import { checkTemplate } from './template-check.ts';
import { findTemplateReferences } from './template-references.ts';
import { compileTemplate } from './template-render.ts';
import { parseProgram } from './template-syntax.ts';

export interface TemplateOptions {
  /** The input of Handlebars. */
  readonly text: string;
  /** Offsets in `text` before which one character of the leaf was removed. */
  readonly removed: readonly number[];
  readonly tools: FunctionDependencies;
}

/** Parses a Handlebars template. */
export function parseTemplate({ text, removed, tools }: TemplateOptions): ParsedLeaf {
  const inLeaf = (offset: number) => offset + removed.filter((each) => each < offset).length;
  const placed = (problem: LeafProblem) => ({ ...problem, offset: inLeaf(problem.offset) });
  if (text.length > limits.parsedLength) return { problems: [tooLong] };
  const program = parseProgram(text);
  if ('severity' in program) return { problems: [placed(program)] };
  const problems = checkTemplate(program, text).map(placed);
  if (problems.length > 0) return { problems };
  const render = compileTemplate(program, tools);
  const evaluate = async (scope: Scope): Promise<string> => {
    try {
      return await render(scope);
    } catch (error) {
      throw toExpressionError(error, text, new Set());
    }
  };
  const moved = <T extends Pick<Reference, 'offset' | 'stepOffsets'>>(found: T): T => ({
    ...found,
    offset: inLeaf(found.offset),
    stepOffsets: found.stepOffsets.map(inLeaf),
  });
  const found = findTemplateReferences(program, text);
  const references = found.references.map(moved);
  const elementPaths = found.elementPaths.map(moved);
  const expression = {
    source: text,
    offset: 0,
    references,
    elementPaths,
    evaluate,
    isPlainPath: false,
    results: [],
    comparisons: [],
    operands: [],
  };
  return { leaf: { kind: 'handlebars', expression }, problems };
}

const tooLong: LeafProblem = {
  severity: 'error',
  code: 'template-syntax',
  message: `Expected a Handlebars template of at most ${limits.parsedLength} characters`,
  offset: 0,
};
