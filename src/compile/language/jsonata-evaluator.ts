import type jsonata from 'jsonata';
import { type BoundedFunction, createBoundedFunctions, toText } from './bounded-functions.ts';
import type { EvaluationBudget } from './evaluation-budget.ts';
import { evaluationError } from './evaluation-error.ts';
import { ExpressionError } from './expression-error.ts';
import { type FunctionTools, type LanguageFunction, languageFunctions } from './functions.ts';
import { insertProbes, reachedName } from './insert-probes.ts';
import type { Scope } from './leaf.ts';
import { nativeFunction } from './native-function.ts';
import { operandTexts } from './operand-text.ts';
import { plainResult } from './plain-json.ts';
import { isFunctionName, ownListName, protectInput } from './protect-input.ts';
import { concatenateName, isPresentName, rewrite } from './rewrite.ts';
import { scopeOf, variablesOf } from './runtime-scope.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';
import type { Token } from './tokens.ts';
import { unwatched, type WorkWatch } from './work-watch.ts';

/** An expression that parses and was checked. */
export interface EvaluatorSource {
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly parsed: jsonata.Expression;
  /** Is rewritten: nothing else may look at it afterwards. */
  readonly tree: SyntaxNode;
}

/** Makes expressions of JSONata ready for evaluation. */
export interface JsonataEvaluator {
  prepare(source: EvaluatorSource): (scope: Scope) => Promise<unknown>;
  /** See {@link Expression.probe}. */
  probe<T>(
    source: EvaluatorSource,
    marks: ReadonlyMap<SyntaxNode, T>,
  ): (scope: Scope) => Promise<readonly T[]>;
}

/** Creates an evaluator. Its expressions take turns, since they share the budget. */
export function createJsonataEvaluator(
  tools: FunctionTools,
  budget: EvaluationBudget,
  watch: WorkWatch = unwatched,
): JsonataEvaluator {
  const bounded = new Map(createBoundedFunctions().map((each) => [each.name, each]));
  const ours = new Map(languageFunctions.map((each) => [each.name, each]));
  const inTurn = createTurns();

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
    parsed.registerFunction(isPresentName, isPresent);
    parsed.registerFunction(ownListName, ownList);
    parsed.registerFunction(isFunctionName, (value: unknown) => typeof value === 'function');
  }

  function prepare({ source, tokens, parsed, tree }: EvaluatorSource) {
    const authored = authoredMessages(tree);
    assignFunctions(parsed, tree);
    rewrite(tree, (operators) => operandTexts(source, tokens, operators));
    protectInput(tree);
    return (scope: Scope) =>
      inTurn(async () => {
        watch.begin();
        try {
          budget.start();
          return plainResult(await parsed.evaluate(scope.root, variablesOf(scope)));
        } catch (error) {
          throw evaluationError(error, source, authored);
        } finally {
          watch.end();
        }
      });
  }

  return {
    prepare,
    probe<T>(source: EvaluatorSource, marks: ReadonlyMap<SyntaxNode, T>) {
      const labels = insertProbes(marks);
      // By scope, of which every evaluation gets its own: several may be under way.
      const collected = new WeakMap<Scope, Set<unknown>>();
      const collect = nativeFunction(1, (focus, [label]) => {
        collected.get(scopeOf(focus))?.add(label);
      });
      source.parsed.registerFunction(reachedName, collect as (...args: unknown[]) => unknown);
      const evaluate = prepare(source);
      return async (scope) => {
        const own = { ...scope };
        const reached = new Set<unknown>();
        collected.set(own, reached);
        await evaluate(own);
        return labels.filter((_, label) => reached.has(label));
      };
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
function concatenate(names: unknown, ...operands: unknown[]): string {
  const missing = operands.findIndex((operand) => !isPresent(operand));
  if (missing >= 0) {
    const name = Array.isArray(names) ? String(names[missing]) : 'a part';
    throw new ExpressionError('missing-value', `Missing value "${name}"`);
  }
  return toText([operands.map((operand) => toText([operand]) ?? '').join('')]) ?? '';
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A copy of a list of the input; lists that JSONata made stay, for it marked them. */
function ownList(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const marks = value as { readonly sequence?: unknown; readonly cons?: unknown };
  return marks.sequence === true || marks.cons === true ? value : [...value];
}

/** The messages that the author wrote into the expression: these may be shown. */
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
