import { invariant } from '../../util/invariant.ts';
import { checkTree } from './check-tree.ts';
import { evaluationError } from './evaluation-error.ts';
import { type FastExpression, handOver } from './fast-operators.ts';
import { compileFast, plainPathOf } from './fast-path.ts';
import type { FunctionTools } from './functions.ts';
import { markIndirect } from './indirect-references.ts';
import { createJsonataEvaluator, type EvaluatorSource } from './jsonata-evaluator.ts';
import type { Expression, LeafProblem, Reference, Scope } from './leaf.ts';
import type { ExpressionPart } from './leaf-text.ts';
import type { WorkedMs } from './meter.ts';
import { parseTree } from './parse-tree.ts';
import { plainCopy, plainScalar } from './plain-json.ts';
import { findReferences } from './references.ts';
import { createRegexEngine } from './regex-engine.ts';
import { suspicions } from './suspicions.ts';
import type { Token } from './tokens.ts';

/** A compiled expression without its place in a leaf: offsets count in the source. */
export interface CompiledExpression {
  readonly references: readonly Reference[];
  readonly isPlainPath: boolean;
  evaluate(scope: Scope): unknown | Promise<unknown>;
  readonly probe: NonNullable<Expression['probe']>;
}

export interface Compilation {
  readonly expression?: CompiledExpression;
  /** Offsets count in the source. */
  readonly problems: readonly LeafProblem[];
}

/** Compiles JSONata sources; equal ones once. */
export interface JsonataCompiler {
  compile(part: ExpressionPart): Compilation;
}

type Evaluate = CompiledExpression['evaluate'];

/** Creates a compiler with a budget, a regular expression engine and a store of its own. */
export function createJsonataCompiler(
  tools: FunctionTools,
  { workedMs }: { readonly workedMs: WorkedMs },
): JsonataCompiler {
  const regexEngine = createRegexEngine();
  const evaluator = createJsonataEvaluator({ tools, regexEngine, workedMs });
  const known = new Map<string, Compilation>();

  function compileSource(source: string, tokens: readonly Token[]): Compilation {
    const found = parseTree(source, tokens);
    if (found.problems !== undefined) return { problems: found.problems };
    const { parsed, tree } = found;
    const problems = checkTree({ tree, tokens, checkRegex: regexEngine.check });
    if (problems.length > 0) return { problems };
    // All that looks at the tree comes before it is prepared, which rewrites it.
    const facts = {
      references: markIndirect(findReferences(tree, tokens), tree, tokens),
      isPlainPath: plainPathOf(tree) !== undefined,
    };
    const warnings = suspicions(source, tree, tokens);
    const fast = compileFast(tree);
    const evaluate =
      fast === undefined
        ? evaluator.prepare({ source, tokens, parsed, tree })
        : evaluateFast(fast, source, lazily(source, tokens));
    const probe: CompiledExpression['probe'] = (mark) => {
      const again = parseAgain(source, tokens);
      return evaluator.probe(again, mark(again.tree));
    };
    return { expression: { ...facts, evaluate, probe }, problems: warnings };
  }

  function parseAgain(source: string, tokens: readonly Token[]): EvaluatorSource {
    const { parsed, tree } = parseTree(source, tokens);
    invariant(tree !== undefined, `Expression "${source}" was parsed before`);
    return { source, tokens, parsed, tree };
  }

  /** Syntax trees are large, and those of fast expressions are seldom needed again. */
  function lazily(source: string, tokens: readonly Token[]): Evaluate {
    let prepared: Evaluate | undefined;
    return (scope) => {
      prepared ??= evaluator.prepare(parseAgain(source, tokens));
      return prepared(scope);
    };
  }

  return {
    compile({ source, tokens, offset }) {
      let compilation = known.get(source);
      if (compilation === undefined) {
        const shifted = tokens.map((token) => shift(token, -offset));
        compilation = compileSource(source, shifted);
        known.set(source, compilation);
      }
      return compilation;
    },
  };
}

function evaluateFast(fast: FastExpression, source: string, slow: Evaluate): Evaluate {
  return (scope) => {
    const value = fast(scope);
    if (value === handOver) return slow(scope);
    try {
      return typeof value === 'object' && value !== null
        ? plainCopy(value, scope.budget)
        : plainScalar(value);
    } catch (error) {
      throw evaluationError(error, source, new Set());
    }
  };
}

function shift(token: Token, by: number): Token {
  return { ...token, start: token.start + by, end: token.end + by };
}
