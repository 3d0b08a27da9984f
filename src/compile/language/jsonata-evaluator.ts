import type jsonata from 'jsonata';
import {
  type BoundedFunction,
  boundedText,
  createBoundedFunctions,
  toText,
} from './bounded-functions.ts';
import { evaluationError } from './evaluation-error.ts';
import { ExpressionError } from './expression-error.ts';
import { chargeCall, chargeResult } from './function-costs.ts';
import { type FunctionTools, type LanguageFunction, languageFunctions } from './functions.ts';
import { insertProbes, reachedName } from './insert-probes.ts';
import type { Scope } from './leaf.ts';
import { Meter, type WorkedMs } from './meter.ts';
import { meterFrames } from './metered-frame.ts';
import { nativeFunction } from './native-function.ts';
import { createNativeFunctions } from './native-functions.ts';
import { operandTexts } from './operand-text.ts';
import { plainResult } from './plain-json.ts';
import { isFunctionName, ownListName, protectInput } from './protect-input.ts';
import type { RegexEngine } from './regex-engine.ts';
import { concatenateName, isPresentName, rewrite } from './rewrite.ts';
import { type CallFocus, meterOf, scopeOf, variablesOf } from './runtime-scope.ts';
import { textSteps, walkSteps } from './size.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';
import type { Token } from './tokens.ts';
import { WorkBudget } from './work-budget.ts';

/** JSONata's type of `this` leaves out what a function needs of it. */
type Implementation = (...args: unknown[]) => unknown;

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

export interface JsonataEvaluatorOptions {
  readonly tools: FunctionTools;
  readonly regexEngine: RegexEngine;
  readonly workedMs: WorkedMs;
}

/** Creates an evaluator. The evaluations of one reconcile take turns: side by side they would only be slower, and hold more. */
export function createJsonataEvaluator({
  tools,
  regexEngine,
  workedMs,
}: JsonataEvaluatorOptions): JsonataEvaluator {
  const bounded = new Map(createBoundedFunctions().map((each) => [each.name, each]));
  const ours = new Map(languageFunctions.map((each) => [each.name, each]));
  const native = createNativeFunctions();

  /** Only what the expression names: binding all of them costs more than parsing. */
  function assignFunctions(parsed: jsonata.Expression, tree: SyntaxNode): void {
    const names = new Set<string>();
    for (const node of walk(tree)) if (node.type === 'variable') names.add(String(node.value));
    for (const name of names) {
      const ownFunction = ours.get(name);
      const boundedFunction = bounded.get(name);
      if (ownFunction !== undefined) assignOwn(parsed, ownFunction, tools);
      else if (boundedFunction !== undefined) assignBounded(parsed, boundedFunction);
      else assignNative(parsed, name);
    }
    parsed.registerFunction(concatenateName, concatenateOnMeter as Implementation);
    parsed.registerFunction(isPresentName, isPresent);
    parsed.registerFunction(ownListName, ownList as Implementation);
    parsed.registerFunction(isFunctionName, (value: unknown) => typeof value === 'function');
  }

  function assignNative(parsed: jsonata.Expression, name: string): void {
    const found = native(name);
    if (found !== undefined) parsed.assign(name, found);
  }

  function prepare({ source, tokens, parsed, tree }: EvaluatorSource) {
    const authored = authoredMessages(tree);
    assignFunctions(parsed, tree);
    rewrite(tree, (operators) => operandTexts(source, tokens, operators));
    protectInput(tree);
    meterFrames(parsed, tree, { regexEngineOf: regexEngine.of });
    return (scope: Scope) => {
      const { budget = new WorkBudget() } = scope;
      return budget.inTurn(async () => {
        try {
          const meter = new Meter(budget, { workedMs });
          const result = await parsed.evaluate(scope.root, variablesOf(scope, meter));
          return plainResult(result, meter);
        } catch (error) {
          throw evaluationError(error, source, authored);
        }
      });
    };
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

function assignOwn(parsed: jsonata.Expression, own: LanguageFunction, tools: FunctionTools): void {
  const isVariadic = own.params.at(-1)?.endsWith('...') === true;
  const implementation = nativeFunction(isVariadic ? -1 : own.params.length, (focus, args) => {
    const [first] = args;
    if (own.takesMissing !== true && (first === undefined || first === null)) return undefined;
    const meter = meterOf(focus);
    const result = own.run(args, { scope: scopeOf(focus), tools, meter });
    chargeResult(meter, result);
    return result;
  });
  parsed.registerFunction(own.name, implementation as Implementation);
}

function assignBounded(
  parsed: jsonata.Expression,
  { name, signature, arity, run }: BoundedFunction,
): void {
  const implementation = nativeFunction(arity, (focus, args) => {
    const meter = meterOf(focus);
    chargeCall(meter, name, args);
    const result = run(focus, args);
    chargeResult(meter, result);
    return result;
  });
  parsed.registerFunction(name, implementation as Implementation, signature);
}

function concatenateOnMeter(this: CallFocus, ...args: unknown[]): string {
  return concatenate(meterOf(this), args);
}

/** What `&` becomes. */
function concatenate(meter: Meter, [names, ...operands]: readonly unknown[]): string {
  const missing = operands.findIndex((operand) => !isPresent(operand));
  if (missing >= 0) {
    const name = Array.isArray(names) ? String(names[missing]) : 'a part';
    throw new ExpressionError('missing-value', `Missing value "${name}"`);
  }
  const text = boundedText(operands.map((operand) => textOfOperand(operand, meter)).join(''));
  meter.spend(textSteps(text));
  meter.produce(text.length);
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

/** A copy of a list of the input; lists that JSONata made stay, for it marked them. */
function ownList(this: CallFocus, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const marks = value as { readonly sequence?: unknown; readonly cons?: unknown };
  if (marks.sequence === true || marks.cons === true) return value;
  const meter = meterOf(this);
  meter.spend(value.length >> 3);
  meter.produce(16 * value.length);
  return [...value];
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
