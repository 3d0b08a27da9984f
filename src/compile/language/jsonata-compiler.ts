import type jsonata from 'jsonata';
import { type BoundedFunction, createBoundedFunctions, toText } from './bounded-functions.ts';
import { checkTree } from './check-tree.ts';
import { createEvaluationBudget } from './evaluation-budget.ts';
import { evaluationError } from './evaluation-error.ts';
import { ExpressionError } from './expression-error.ts';
import { handOver } from './fast-operators.ts';
import { compileFast, plainPathOf } from './fast-path.ts';
import { type FunctionTools, type LanguageFunction, languageFunctions } from './functions.ts';
import type { LeafProblem, Reference, Scope } from './leaf.ts';
import type { ExpressionPart } from './leaf-text.ts';
import { nativeFunction } from './native-function.ts';
import { operandTexts } from './operand-text.ts';
import { parseTree } from './parse-tree.ts';
import { plainResult } from './plain-json.ts';
import { findReferences } from './references.ts';
import { createRegexEngine } from './regex-engine.ts';
import { concatenateName, isPresentName, rewrite } from './rewrite.ts';
import { scopeOf, variablesOf } from './runtime-scope.ts';
import { suspicions } from './suspicions.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';
import type { Token } from './tokens.ts';

/** A compiled expression without its place in a leaf: offsets count in the source. */
export interface CompiledExpression {
  readonly references: readonly Reference[];
  readonly isPlainPath: boolean;
  evaluate(scope: Scope): unknown | Promise<unknown>;
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

/** Creates a compiler. Its expressions evaluate one after the other, see {@link createTurns}. */
export function createJsonataCompiler(tools: FunctionTools): JsonataCompiler {
  const regexEngine = createRegexEngine();
  const bounded = new Map(createBoundedFunctions().map((each) => [each.name, each]));
  const ours = new Map(languageFunctions.map((each) => [each.name, each]));
  const known = new Map<string, Compilation>();
  const inTurn = createTurns();
  const budget = createEvaluationBudget(regexEngine.constructor_);

  function compileSource(source: string, tokens: readonly Token[]): Compilation {
    const found = parseTree(source, tokens, budget);
    if (found.problems !== undefined) return { problems: found.problems };
    const { parsed, tree } = found;
    const problems = checkTree({ tree, tokens, checkRegex: regexEngine.check });
    if (problems.length > 0) return { problems };
    const warnings = suspicions(source, tree, tokens);
    const fast = compileFast(tree);
    const expression: CompiledExpression = {
      references: findReferences(tree, tokens),
      isPlainPath: plainPathOf(tree) !== undefined,
      evaluate: createEvaluate({ source, tokens, parsed, fast, tree }),
    };
    return { expression, problems: warnings };
  }

  function createEvaluate(options: {
    source: string;
    tokens: readonly Token[];
    parsed: jsonata.Expression;
    fast: ReturnType<typeof compileFast>;
    tree: SyntaxNode;
  }): CompiledExpression['evaluate'] {
    const { source, tokens, parsed, fast, tree } = options;
    const authored = authoredMessages(tree);
    assignFunctions(parsed, tree);
    rewrite(tree, (operators) => operandTexts(source, tokens, operators));
    const evaluateSlowly = (scope: Scope) => inTurn(() => run(scope));
    async function run(scope: Scope): Promise<unknown> {
      try {
        budget.start();
        return plainResult(await parsed.evaluate(scope.root, variablesOf(scope)));
      } catch (error) {
        throw evaluationError(error, source, authored);
      }
    }
    if (fast === undefined) return evaluateSlowly;
    return (scope) => {
      const value = fast(scope);
      if (value === handOver) return evaluateSlowly(scope);
      try {
        return plainResult(value);
      } catch (error) {
        throw evaluationError(error, source, authored);
      }
    };
  }

  /** Only what the expression names: binding all of them costs more than parsing. */
  function assignFunctions(parsed: jsonata.Expression, tree: SyntaxNode): void {
    const names = new Set<string>();
    for (const node of walk(tree)) if (node.type === 'variable') names.add(String(node.value));
    for (const name of names) {
      const ownFunction = ours.get(name);
      const boundedFunction = bounded.get(name);
      if (ownFunction !== undefined) assignOwn(parsed, ownFunction, tools);
      else if (boundedFunction !== undefined) assignBounded(parsed, boundedFunction);
    }
    parsed.registerFunction(concatenateName, concatenate);
    parsed.registerFunction(
      isPresentName,
      (value: unknown) => value !== undefined && value !== null,
    );
  }

  return {
    compile({ source, tokens, offset }) {
      let compilation = known.get(source);
      if (compilation === undefined) {
        compilation = compileSource(
          source,
          tokens.map((token) => shifted(token, -offset)),
        );
        known.set(source, compilation);
      }
      return compilation;
    },
  };
}

/**
 * Runs evaluations one after the other. They share one budget, and JSONata never yields to
 * timers: side by side they would only be slower.
 */
function createTurns(): <T>(evaluate: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (evaluate) => {
    const result = last.then(evaluate);
    last = result.then(ignore, ignore);
    return result;
  };
}

/** The one who asked for the result handles it; the next in turn only waits. */
function ignore(): void {
  // Nothing to do.
}

function assignOwn(parsed: jsonata.Expression, own: LanguageFunction, tools: FunctionTools): void {
  const isVariadic = own.params.at(-1)?.endsWith('...') === true;
  const implementation = nativeFunction(isVariadic ? -1 : own.params.length, (focus, args) => {
    const [first] = args;
    if (own.takesMissing !== true && (first === undefined || first === null)) return undefined;
    return own.run(args, { scope: scopeOf(focus), tools });
  });
  parsed.registerFunction(own.name, implementation as (...args: unknown[]) => unknown);
}

function assignBounded(
  parsed: jsonata.Expression,
  { name, signature, arity, run }: BoundedFunction,
): void {
  const implementation = nativeFunction(arity, run);
  parsed.registerFunction(name, implementation as (...args: unknown[]) => unknown, signature);
}

/** What `&` becomes. */
function concatenate(this: unknown, names: unknown, ...operands: unknown[]): string {
  const missing = operands.findIndex((operand) => operand === undefined || operand === null);
  if (missing >= 0) {
    const name = Array.isArray(names) ? String(names[missing]) : 'a part';
    throw new ExpressionError('missing-value', `Missing value "${name}"`);
  }
  return toText([operands.map((operand) => toText([operand]) ?? '').join('')]) ?? '';
}

function authoredMessages(tree: SyntaxNode): ReadonlySet<string> {
  const messages = new Set<string>();
  for (const node of walk(tree)) {
    if (node.type !== 'function') continue;
    const name = node.procedure?.value;
    const message = node.arguments?.[name === 'error' ? 0 : 1];
    if ((name === 'error' || name === 'assert') && message?.type === 'string') {
      messages.add(String(message.value));
    }
  }
  return messages;
}

function shifted(token: Token, by: number): Token {
  return { ...token, start: token.start + by, end: token.end + by };
}
