import type jsonata from 'jsonata';
import { toText } from './bounded-functions.ts';
import { chargeResult } from './builtin-functions.ts';
import { ExpressionError, toExpressionError } from './evaluation-error.ts';
import type { FunctionDependencies, LanguageFunction } from './functions/language-function.ts';
import { languageFunctions } from './functions.ts';
import type { ProbeOptions, Scope } from './leaf.ts';
import { Meter } from './meter.ts';
import { meterFrames } from './metered-frame.ts';
import { createNativeFunctions, nativeFunction } from './native-functions.ts';
import {
  isMissingName,
  isPresentName,
  presentValue,
  presentValueName,
  rewriteNulls,
  withoutNulls,
  withoutNullsName,
} from './nulls.ts';
import { operandTexts } from './operand-text.ts';
import { boundedText, plainResult } from './plain-json.ts';
import { followerOf } from './present/follow-calls.ts';
import { isFunctionName, ownListName, protectInput } from './protect-input.ts';
import type { RegexEngine } from './regex-engine.ts';
import { concatenateName, rewrite } from './rewrite.ts';
import { type CallFocus, meterOf, scopeOf, variablesOf } from './runtime-scope.ts';
import { textSteps, walkSteps } from './step-costs.ts';
import { callOf, type SyntaxNode, walk } from './syntax-tree.ts';
import type { Token } from './tokens.ts';
import { WorkBudget } from './work-budget.ts';

/** JSONata's types declare an incomplete `this`. */
type Implementation = (...args: unknown[]) => unknown;

/** A parsed and checked expression. */
export interface EvaluatorSource {
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly parsed: jsonata.Expression;
  /** `prepare` rewrites the tree; do not use it afterwards. */
  readonly tree: SyntaxNode;
}

/** Prepares JSONata expressions for evaluation. */
interface JsonataEvaluator {
  prepare(source: EvaluatorSource): (scope: Scope) => Promise<unknown>;
  /** See {@link Expression.probe}. */
  probe<T>(
    source: EvaluatorSource,
    marks: ReadonlyMap<SyntaxNode, T>,
  ): (scope: Scope, options?: ProbeOptions) => Promise<ReadonlyMap<T, number>>;
}

interface JsonataEvaluatorOptions {
  readonly tools: FunctionDependencies;
  readonly regexEngine: RegexEngine;
}

/** Creates an evaluator. Evaluations of one reconcile run sequentially: concurrency would be slower and use more memory. */
export function createJsonataEvaluator(options: JsonataEvaluatorOptions): JsonataEvaluator {
  const { regexEngine } = options;
  const ours = new Map(languageFunctions.map((each) => [each.name, each]));
  const native = createNativeFunctions();

  /** Binds only the functions that the expression names: binding all takes longer than parsing. */
  function assignFunctions(parsed: jsonata.Expression, tree: SyntaxNode): void {
    const names = new Set<string>();
    for (const node of walk(tree)) if (node.type === 'variable') names.add(String(node.value));
    for (const name of names) {
      const ownFunction = ours.get(name);
      const found = native(name);
      if (ownFunction !== undefined) assignOwn(parsed, ownFunction, options);
      else if (found !== undefined) parsed.assign(name, found);
    }
    parsed.registerFunction(concatenateName, concatenate as Implementation);
    parsed.registerFunction(isPresentName, isPresent);
    parsed.registerFunction(isMissingName, (value: unknown) => !isPresent(value));
    parsed.registerFunction(presentValueName, presentValue);
    parsed.registerFunction(withoutNullsName, withoutNulls);
    parsed.registerFunction(ownListName, ownList as Implementation);
    parsed.registerFunction(isFunctionName, (value: unknown) => typeof value === 'function');
  }

  function prepare({ source, tokens, parsed, tree }: EvaluatorSource) {
    const authored = authoredMessages(tree);
    assignFunctions(parsed, tree);
    rewriteNulls(tree);
    rewrite(tree, (operators) => operandTexts(source, tokens, operators));
    protectInput(tree);
    meterFrames(parsed, tree, regexEngine);
    return (scope: Scope) => {
      const { budget = new WorkBudget() } = scope;
      return budget.runExclusive(async () => {
        try {
          const meter = new Meter(budget);
          const result = await parsed.evaluate(scope.root, variablesOf(scope, meter));
          return plainResult(result, meter);
        } catch (error) {
          throw toExpressionError(error, source, authored);
        }
      });
    };
  }

  return {
    prepare,
    probe<T>(source: EvaluatorSource, marks: ReadonlyMap<SyntaxNode, T>) {
      const labels = insertProbes(marks);
      // Keyed by scope, because evaluations may run concurrently and each has its own scope.
      const collected = new WeakMap<Scope, number[]>();
      function collect(this: CallFocus, label: unknown): void {
        const counts = collected.get(scopeOf(this));
        const index = Number(label);
        if (counts !== undefined) counts[index] = (counts[index] ?? 0) + 1;
      }
      source.parsed.registerFunction(reachedName, collect as Implementation);
      const evaluate = prepare(source);
      return async (scope, { mayFail = false } = {}) => {
        const own = { ...scope };
        const counts: number[] = [];
        collected.set(own, counts);
        await evaluate(own).catch((error: unknown) => {
          const isMissing = error instanceof ExpressionError && error.code === 'missing-value';
          if (!mayFail || !isMissing) throw error;
        });
        return new Map(
          labels.flatMap((mark, label) => {
            const count = counts[label] ?? 0;
            return count === 0 ? [] : [[mark, count] as const];
          }),
        );
      };
    },
  };
}

function assignOwn(
  parsed: jsonata.Expression,
  own: LanguageFunction,
  { tools, regexEngine }: JsonataEvaluatorOptions,
): void {
  // `$map` passes so many arguments: none of those that are optional.
  const length = own.params.filter((param) => !/[?.]$/.test(param)).length;
  const names = own.params.map((param) => param.replace(/[?.]+$/, ''));
  const parameters = { length, toString: () => `(${names.join(', ')})` };
  const follow = followerOf(own.name);
  const implementation = nativeFunction(parameters, (focus, args) => {
    const [first] = args;
    if (own.takesMissing !== true && !isPresent(first)) return undefined;
    const meter = meterOf(focus);
    const scope = scopeOf(focus);
    const result = own.run(args, { scope, tools, regexEngine, meter });
    if (follow !== undefined && scope.flips !== undefined) {
      // A search has limits of its own, and is charged by its periods.
      const context = { scope, tools, regexEngine, meter: new Meter() };
      follow(scope.flips, { args, result, call: (other) => own.run(other, context) });
    }
    return result instanceof Promise
      ? result.then((value) => charged(value, meter))
      : charged(result, meter);
  });
  parsed.registerFunction(own.name, implementation as Implementation);
}

function charged(result: unknown, meter: Meter): unknown {
  chargeResult(meter, result);
  return presentValue(result);
}

/** Implements `&`. */
function concatenate(this: CallFocus, names: unknown, ...operands: unknown[]): string {
  const missing = operands.findIndex((operand) => !isPresent(operand));
  if (missing >= 0) {
    const name = Array.isArray(names) ? String(names[missing]) : 'a part';
    throw new ExpressionError('missing-value', `Missing value "${name}"`);
  }
  const meter = meterOf(this);
  const text = boundedText(operands.map((operand) => textOfOperand(operand, meter)).join(''));
  meter.spend(textSteps(text));
  meter.allocate(text.length);
  return text;
}

function textOfOperand(operand: unknown, meter: Meter): string {
  if (typeof operand === 'string') return operand;
  meter.spend(walkSteps(operand, meter.stepsLeft));
  return toText([operand], meter) ?? '';
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Copies a list of the input. Lists created by JSONata are marked and returned unchanged. */
function ownList(this: CallFocus, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const marks = value as { readonly sequence?: unknown; readonly cons?: unknown };
  if (marks.sequence === true || marks.cons === true) return value;
  const meter = meterOf(this);
  meter.spend(value.length >> 3);
  meter.allocate(16 * value.length);
  return [...value];
}

/** The literal messages in the expression, which may be shown. */
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

/** A function for rewritten code. Expressions cannot call it, because its name contains a space. */
const reachedName = ' reached';

/**
 * Replaces every marked node in place by `( reached(label); node )`. Returns the marks; a label is an index into
 * them. Must run before all other rewriting.
 */
function insertProbes<T>(marks: ReadonlyMap<SyntaxNode, T>): readonly T[] {
  for (const [label, node] of [...marks.keys()].entries()) {
    const original = { ...node };
    for (const key of Object.keys(node)) delete (node as unknown as Record<string, unknown>)[key];
    const call = callOf(reachedName, [{ type: 'value', value: label }]);
    Object.assign(node, { type: 'block', expressions: [call, original] });
  }
  return [...marks.values()];
}
