/**
 * Meters an evaluation of JSONata by its debugger hooks: JSONata calls the functions under these symbols before and
 * after each node. JSONata's version is pinned, and a test covers the assumptions.
 */
import type jsonata from 'jsonata';
import { bigIntegerError } from './evaluation-error.ts';
import type { Scope } from './leaf.ts';
import { limits } from './limits.ts';
import type { Meter } from './meter.ts';
import { presentValue } from './nulls.ts';
import { observeOperators } from './present/follow-operators.ts';
import type { TimeFlips } from './present/time-flips.ts';
import type { RegexEngine } from './regex-engine.ts';
import { meterVariable, scopeVariable } from './runtime-scope.ts';
import { elementSteps, shallowSteps, walkSteps } from './step-costs.ts';
import { leftOf, type SyntaxNode, walk } from './syntax-tree.ts';

const onEntry = Symbol.for('jsonata.__evaluate_entry');
const onExit = Symbol.for('jsonata.__evaluate_exit');

/** A frame of JSONata. */
interface Frame {
  readonly base: BaseFrame;
  lookup(name: string | symbol): unknown;
}

interface BaseFrame extends Frame {
  depth: number;
  guardrails: () => void;
  createSequence: (...first: unknown[]) => unknown[];
  RegexEngine: unknown;
  meter: Meter;
  bind(name: string | symbol, value: unknown): void;
}

/** Charges the result of a node, for uninterrupted work of its parent. */
type Charge = (meter: Meter, result: unknown) => void;

/** Meters all evaluations of an expression. Must run after all rewriting, because nodes are identified by reference. */
export function meterFrames(
  parsed: jsonata.Expression,
  tree: SyntaxNode,
  regexEngine: RegexEngine,
): void {
  const charges = chargesOf(tree);
  const exit =
    charges.size === 0
      ? undefined
      : (node: SyntaxNode, _: unknown, { base }: Frame, result: unknown) =>
          charges.get(node)?.(base.meter, elementOf(result));
  const hasRegex = [...walk(tree)].some(({ type }) => type === 'regex');

  /** Runs before the first node of an evaluation. */
  function install(node: SyntaxNode, input: unknown, frame: Frame): void {
    const { base } = frame;
    const meter = base.lookup(meterVariable) as Meter;
    base.meter = meter;
    base.guardrails = () => {
      if (base.depth > limits.depth) throw tooDeep;
      meter.spend(2);
    };
    base.createSequence = createSequences(meter);
    if (hasRegex) base.RegexEngine = regexEngine.of(meter);
    const { flips } = base.lookup(scopeVariable) as Scope;
    if (flips === undefined) {
      base.bind(onEntry, enter);
      if (exit !== undefined) base.bind(onExit, exit);
    } else observe(flips, node, input, frame);
    chargeInput(node, input, meter);
  }

  /** Also observes the operators of this evaluation, from its first node on. */
  function observe(flips: TimeFlips, first: SyntaxNode, ofFirst: unknown, frame: Frame): void {
    const { base } = frame;
    const observer = observeOperators(flips);
    base.bind(onEntry, (node: SyntaxNode, input: unknown, of: Frame) => {
      observer.enter(node, input, of);
      return enter(node, input, of);
    });
    base.bind(onExit, (node: SyntaxNode, input: unknown, of: Frame, result: unknown) => {
      exit?.(node, input, of, result);
      observer.exit(node, input, of, presentValue(elementOf(result)));
      // Searches are work of the evaluation.
      const steps = flips.takeSteps();
      if (steps > 0) base.meter.spend(steps);
    });
    observer.enter(first, ofFirst, frame);
  }

  parsed.assign(onEntry as unknown as string, install);
}

/** JSONata unwraps a list of one element only after the exit hook. */
function elementOf(result: unknown): unknown {
  return Array.isArray(result) && result.length === 1 ? result[0] : result;
}

/** Errors of JSONata. */
const tooDeep = { code: 'D1011' };
const tooLong = { code: 'D2015' };

/** Runs before each node. JSONata awaits the returned promise. */
function enter(node: SyntaxNode, input: unknown, { base }: Frame): Promise<void> | undefined {
  const { meter } = base;
  chargeInput(node, input, meter);
  return meter.budget.shouldPause ? meter.budget.interrupt() : undefined;
}

/** Charges nodes whose work depends on the size of their input. */
function chargeInput(node: SyntaxNode, input: unknown, meter: Meter): void {
  switch (node.type) {
    case 'name':
      // A list at this point is an element of a list.
      if (Array.isArray(input)) meter.spend(elementSteps(input));
      return;
    case 'wildcard':
      meter.spend(wildcardSteps(input));
      return;
    case 'descendant':
      meter.spend(walkSteps(input, meter.stepsLeft));
      return;
    default:
      return;
  }
}

/** JSONata appends each list among the fields to a copy of all previous elements. */
function wildcardSteps(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 1;
  let elements = 0;
  let lists = 0;
  for (const field of Object.values(input)) {
    elements += Array.isArray(field) ? elementSteps(field) * 4 : 1;
    if (Array.isArray(field)) lists += 1;
  }
  return 1 + elements + (lists * Math.min(elements, limits.sequence)) / 256;
}

/** Creates sequences as JSONata does, but counts their elements and shares one `push` function. */
function createSequences(meter: Meter): BaseFrame['createSequence'] {
  function push(this: unknown[], item: unknown): number {
    const { length } = this;
    if (item === null || isTupleOfNull(item, this)) return length;
    if (length >= limits.sequence) throw tooLong;
    meter.allocate(16);
    this[length] = item;
    return length + 1;
  }
  return (...first) => {
    const sequence: unknown[] & { sequence?: true } = [];
    sequence.push = push;
    sequence.sequence = true;
    if (first.length === 1) sequence.push(presentValue(first[0]));
    return sequence;
  };
}

/** An element of a stream of tuples holds its value and its variables (`@$v`). */
function isTupleOfNull(item: unknown, sequence: unknown[] & { tupleStream?: unknown }): boolean {
  if (sequence.tupleStream !== true || typeof item !== 'object' || item === null) return false;
  return Object.values(item).includes(null);
}

/** The nodes whose results are compared, tested or combined in one step. */
function chargesOf(tree: SyntaxNode): ReadonlyMap<SyntaxNode, Charge> {
  const charges = new Map<SyntaxNode, Charge>();
  const charge = (node: SyntaxNode | undefined, by: Charge) => {
    if (node !== undefined && !isScalarLiteral(node)) charges.set(node, by);
  };
  for (const node of walk(tree)) {
    if (node.type === 'binary') chargeOperands(node, charge);
    if (node.type === 'unary' && node.value === '[') charge(node, made);
    if (node.type === 'condition') charge(node.condition, tested);
    for (const { expr } of [...(node.predicate ?? []), ...(node.stages ?? [])])
      charge(expr, tested);
    for (const { expression } of node.terms ?? []) charge(expression, touched);
  }
  return charges;
}

function chargeOperands(
  node: SyntaxNode,
  charge: (node: SyntaxNode | undefined, by: Charge) => void,
): void {
  const left = leftOf(node);
  const sides = [left, node.rhs];
  switch (node.value) {
    case '=':
    case '!=':
      // A comparison with a scalar literal ends immediately.
      if (sides.some(isScalarLiteral)) return;
      charge(left, compared);
      charge(node.rhs, touched);
      return;
    case '<':
    case '<=':
    case '>':
    case '>=':
      if (!sides.some(isScalarLiteral)) charge(left, touched);
      return;
    case 'in':
      charge(left, touched);
      charge(node.rhs, searched);
      return;
    case 'and':
    case 'or':
      for (const side of sides) charge(side, tested);
      return;
    default:
      return;
  }
}

function isScalarLiteral(node: SyntaxNode | undefined): boolean {
  return node?.type === 'string' || node?.type === 'number' || node?.type === 'value';
}

const compared: Charge = (meter, value) => {
  if (typeof value === 'object' || typeof value === 'string')
    meter.spend(walkSteps(value, meter.stepsLeft));
};

const touched: Charge = (meter, value) => {
  if (typeof value === 'object' || typeof value === 'string') meter.spend(shallowSteps(value));
};

const tested: Charge = (meter, value) => {
  // JSONata takes it for an empty value.
  if (typeof value === 'bigint') throw bigIntegerError();
  if (Array.isArray(value)) meter.spend(elementSteps(value));
  else if (typeof value === 'object' && value !== null) meter.spend(shallowSteps(value));
};

const searched: Charge = (meter, value) => {
  if (!Array.isArray(value)) return;
  let steps = value.length >> 3;
  for (const each of value) if (typeof each === 'string') steps += each.length >> 8;
  meter.spend(steps);
};

const made: Charge = (meter, value) => {
  if (!Array.isArray(value)) return;
  meter.spend(value.length >> 3);
  meter.allocate(16 * value.length);
};
