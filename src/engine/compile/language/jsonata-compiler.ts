import { invariant } from '#util/homeostat-error.ts';
import { checkTree } from './check-tree.ts';
import { findComparisons } from './comparisons.ts';
import { toExpressionError } from './evaluation-error.ts';
import { type FastExpression, needsJsonata } from './fast-operators.ts';
import { compileFast, plainPathOf } from './fast-path.ts';
import type { FunctionDependencies } from './functions/language-function.ts';
import { createJsonataEvaluator, type EvaluatorSource } from './jsonata-evaluator.ts';
import type { Expression, LeafProblem, Reference } from './leaf.ts';
import type { ExpressionPart } from './leaf-text.ts';
import { findOperands } from './operands.ts';
import { parseTree } from './parse-tree.ts';
import { plainCopy, plainScalar } from './plain-json.ts';
import { findReferences } from './references.ts';
import { createRegexEngine } from './regex-engine.ts';
import { nestedListIn, resultFinder } from './result-types.ts';
import { findSuspiciousExpressions } from './suspicious-expressions.ts';
import { firstPosition, type SyntaxNode, walk } from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

/** Offsets of references and problems are relative to the source, or to its leaf. */
export interface Compilation {
  readonly expression?: Expression;
  readonly problems: readonly LeafProblem[];
}

/** Compiles JSONata sources and caches the results. Offsets are relative to the source. */
export interface JsonataCompiler {
  compile(part: ExpressionPart): Compilation;
}

/** At most this many expressions are cached. */
const maxCached = 10_000;

type Evaluate = Expression['evaluate'];

/** Creates a compiler with its own regular expression engine and cache. */
export function createJsonataCompiler(tools: FunctionDependencies): JsonataCompiler {
  const regexEngine = createRegexEngine();
  const evaluator = createJsonataEvaluator({ tools, regexEngine });
  const known = new Map<string, Compilation>();

  function compileSource(source: string, tokens: readonly Token[]): Compilation {
    const found = parseTree(source, tokens);
    if (found.problems !== undefined) return { problems: found.problems };
    const { parsed, tree } = found;
    const problems = checkTree({ tree, tokens, checkRegex: regexEngine.check });
    if (problems.length > 0) return { problems };
    const resultsOf = resultFinder(tree, tokens);
    const nestedList = nestedListIn(tree, tokens);
    // The analysis must run before `prepare`, which rewrites the tree.
    const facts = {
      source,
      offset: 0,
      references: markIndirect(findReferences(tree, tokens), tree, tokens),
      isPlainPath: plainPathOf(tree) !== undefined,
      results: resultsOf(tree),
      comparisons: findComparisons(tree, tokens),
      operands: findOperands(tree, tokens, resultsOf),
      elementPaths: [],
      ...(nestedList !== undefined && { nestedList }),
    };
    const warnings = findSuspiciousExpressions(source, tree, tokens);
    const fast = compileFast(tree);
    const evaluate =
      fast === undefined
        ? evaluator.prepare({ source, tokens, parsed, tree })
        : evaluateFast(fast, source, lazily(source, tokens));
    const probe: Expression['probe'] = (mark) => {
      const again = parseAgain(source, tokens);
      return evaluator.probe(again, mark(again.tree, tokens));
    };
    return { expression: { ...facts, evaluate, probe }, problems: warnings };
  }

  function parseAgain(source: string, tokens: readonly Token[]): EvaluatorSource {
    const { parsed, tree } = parseTree(source, tokens);
    invariant(tree !== undefined, `Expression "${source}" was parsed before`);
    return { source, tokens, parsed, tree };
  }

  /** Parses again on demand: syntax trees are large, and fast expressions rarely need theirs. */
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
        if (known.size >= maxCached) known.clear();
        known.set(source, compilation);
      }
      return compilation;
    },
  };
}

function evaluateFast(fast: FastExpression, source: string, slow: Evaluate): Evaluate {
  return (scope) => {
    // Only JSONata's operators are followed.
    const value = scope.flips === undefined ? fast(scope) : needsJsonata;
    if (value === needsJsonata) return slow(scope);
    try {
      return typeof value === 'object' && value !== null
        ? plainCopy(value, scope.budget)
        : plainScalar(value);
    } catch (error) {
      throw toExpressionError(error, source, new Set());
    }
  };
}

function shift(token: Token, by: number): Token {
  return { ...token, start: token.start + by, end: token.end + by };
}

/** Marks references to `vars` that are not paths `vars.<name>`; see {@link Reference.isIndirect}. */
function markIndirect(
  references: readonly Reference[],
  tree: SyntaxNode,
  tokens: readonly Token[],
): readonly Reference[] {
  if (!references.some(({ root }) => root === 'vars')) return references;
  const direct = new Set<number>();
  for (const node of walk(tree)) {
    if (beginsAtVar(node)) direct.add(startOf(tokens, firstPosition(node)));
  }
  // References to the whole input are reported separately.
  for (const { root, path, offset } of references) {
    if (root === 'resource' && path.length === 0) direct.add(offset);
  }
  return references.map((reference) =>
    reference.root === 'vars' && !direct.has(reference.offset)
      ? { ...reference, isIndirect: true }
      : reference,
  );
}

/** Whether a path starts with `vars.<name>` or `$$.vars.<name>`. */
function beginsAtVar({ type, steps = [] }: SyntaxNode): boolean {
  if (type !== 'path') return false;
  const length = steps[0]?.type === 'variable' ? 2 : 1;
  const path = plainPathOf({ type: 'path', steps: steps.slice(0, length) });
  if (path?.variable !== '$' || path.steps.length !== 1 || path.steps[0] !== 'vars') return false;
  return steps[length]?.type === 'name';
}
