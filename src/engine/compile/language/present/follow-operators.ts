import type { SyntaxNode } from '../syntax-tree.ts';
import { leftOf } from '../syntax-tree.ts';
import { hasTime, mostElements, mostLookedUp } from './follow-again.ts';
import { followerOf } from './follow-calls.ts';
import {
  constantKey,
  earlierEnd,
  type PeriodEnd,
  type TimedValue,
  type TimeFlips,
  type Ways,
} from './time-flips.ts';

type Numeric = (left: number, right: number) => number;
type Order = (left: number | string, right: number | string) => boolean;

const arithmetic: ReadonlyMap<unknown, Numeric> = new Map<unknown, Numeric>([
  ['+', (left, right) => left + right],
  ['-', (left, right) => left - right],
  ['*', (left, right) => left * right],
  ['/', (left, right) => left / right],
  ['%', (left, right) => left % right],
]);
const orders: ReadonlyMap<unknown, Order> = new Map<unknown, Order>([
  ['<', (left, right) => left < right],
  ['<=', (left, right) => left <= right],
  ['>', (left, right) => left > right],
  ['>=', (left, right) => left >= right],
]);

/** An operator that is being evaluated. */
interface Operation {
  readonly node: SyntaxNode;
  readonly input: unknown;
  readonly frame: unknown;
  left?: Operand;
  right?: Operand;
}

/** A side of an operator. */
interface Operand {
  readonly value: unknown;
  readonly ways: Ways;
}

/** Sees the nodes of one evaluation, and follows the operators that have a value that depends on the present. */
export interface OperatorObserver {
  enter(node: SyntaxNode, input: unknown, frame: unknown): void;
  exit(node: SyntaxNode, input: unknown, frame: unknown, result: unknown): void;
}

/**
 * Creates an observer of one evaluation. JSONata evaluates the fields of a map concurrently, so operations are found by their node, input
 * and frame: the operands of an operator are evaluated with its own.
 */
export function observeOperators(flips: TimeFlips): OperatorObserver {
  const open: Operation[] = [];
  return {
    enter(node, input, frame) {
      if (node.type === 'binary' && followedAs(node.value) !== undefined)
        open.push({ node, input, frame });
    },
    exit(node, input, frame, result) {
      if (open.length === 0) {
        flips.takeNoted(result);
        return;
      }
      const at = open.findLastIndex(
        (each) => each.node === node && each.input === input && each.frame === frame,
      );
      const [ended] = at < 0 ? [] : open.splice(at, 1);
      if (ended !== undefined) followOperator(flips, { ...ended, result });
      const noted = flips.takeNoted(result);
      const parent = open.findLast(
        (each) =>
          each.input === input &&
          each.frame === frame &&
          (leftOf(each.node) === node || each.node.rhs === node),
      );
      if (parent === undefined) return;
      const ways = (isNoting(node) ? noted : undefined) ?? flips.waysOf(result);
      if (leftOf(parent.node) === node) parent.left = { value: result, ways };
      else parent.right = { value: result, ways };
    },
  };
}

/** Whether what was noted last is complete for the result: other expressions return values that were noted earlier. */
function isNoting(node: SyntaxNode): boolean {
  if (node.type === 'binary') return arithmetic.has(node.value);
  return node.type === 'function' && followerOf(String(node.procedure?.value)) !== undefined;
}

/** What an operator makes of a time: another one, or a result that stays until a known time. Undefined: it is not followed. */
export function followedAs(operator: unknown): 'time' | 'comparison' | undefined {
  if (arithmetic.has(operator)) return 'time';
  return orders.has(operator) || isEquality(operator) ? 'comparison' : undefined;
}

function isEquality(operator: unknown): boolean {
  return operator === '=' || operator === '!=' || operator === 'in';
}

/** Follows one evaluation of an operator. */
function followOperator(flips: TimeFlips, { node, left, right, result }: Ended): void {
  const operator = node.value;
  const leftSide = sideOf(leftOf(node), left);
  const rightSide = sideOf(node.rhs, right);
  const { value } = rightSide;
  if (operator === 'in' && Array.isArray(value)) {
    followElements(flips, { left: leftSide, elements: value, result });
    return;
  }
  followSides(flips, { operator, left: leftSide, right: rightSide, result });
}

interface Ended extends Operation {
  readonly result: unknown;
}

interface Sides {
  readonly operator: unknown;
  readonly left: Operand;
  readonly right: Operand;
  readonly result: unknown;
}

interface Elements {
  readonly left: Operand;
  readonly elements: readonly unknown[];
  readonly result: unknown;
}

function followElements(flips: TimeFlips, { left, elements, result }: Elements): void {
  const compared = elements.slice(0, mostElements);
  const constants = compared.filter((element) => flips.of(element).length === 0);
  followConstants(flips, { left, elements: constants, result });
  for (const element of compared) {
    const right = { value: element, ways: flips.waysOf(element) };
    if (right.ways.all.length > 0) followSides(flips, { operator: 'in', left, right, result });
  }
  if (elements.length <= mostElements) return;
  const others = elements.slice(mostElements, mostLookedUp);
  if (left.ways.all.length > 0 || hasTime(flips, others)) flips.changesLater();
}

/** One search for all of them: a value that grows passes them in their order. */
function followConstants(flips: TimeFlips, { left, elements, result }: Elements): void {
  if (left.ways.isCut) flips.changesLater();
  for (const way of left.ways.all) {
    if (way.hasSteps !== true && result !== true) continue;
    const key = flips.keyOf(['in', way.key, ...elements.map(constantKey)]);
    flips.watch((ms) => position(way.at(ms), elements), { key, until: way.until });
  }
}

/** Where a value is among others: between two of them, or equal to one. */
function position(value: unknown, others: readonly unknown[]): number {
  let before = 0;
  for (const other of others) {
    if (!isOrdered(value) || !isOrdered(other) || typeof value !== typeof other) continue;
    if (other < value) before += 1;
    if (other <= value) before += 1;
  }
  return before;
}

function followSides(flips: TimeFlips, { operator, left, right, result }: Sides): void {
  const isCut = left.ways.isCut || right.ways.isCut;
  if (isCut && arithmetic.has(operator)) flips.noteCut(result);
  else if (isCut) flips.changesLater();
  for (const pair of pairs(flips, left, right)) followPair(flips, { operator, pair, result });
}

const independent: Ways = { all: [], isCut: false };

function sideOf(node: SyntaxNode | undefined, operand: Operand | undefined): Operand {
  if (operand === undefined) return { value: undefined, ways: independent };
  return isLiteral(node) ? { ...operand, ways: independent } : operand;
}

/** A literal does not depend on the present, whatever its value is. */
function isLiteral(node: SyntaxNode | undefined): boolean {
  return node?.type === 'number' || node?.type === 'string';
}

type Pair = readonly [TimedValue, TimedValue];

function followPair(
  flips: TimeFlips,
  {
    operator,
    pair,
    result,
  }: { readonly operator: unknown; readonly pair: Pair; readonly result: unknown },
): void {
  const until = sharedUntil(pair);
  const compute = arithmetic.get(operator);
  const order = orders.get(operator);
  const key = (name: unknown) => flips.keyOf([String(name), pair[0].key, pair[1].key]);
  if (compute !== undefined) {
    const value = operator === '%' ? remainder(flips, pair) : computed(compute, pair);
    flips.note(result, { key: key(operator), ...value });
  } else if (order !== undefined) flips.watch(ordered(order, pair), { key: key(operator), until });
  // Without steps, different values are equal for a moment at most.
  else if (hasSteps(pair) || result === (operator !== '!='))
    flips.watch(edges(pair), { key: key('='), until });
}

/** The possible sides of an operator, of which at least one depends on the present. The most likely ones first: searches are limited. */
function* pairs(flips: TimeFlips, left: Operand, right: Operand): Generator<Pair> {
  const lefts = left.ways.all;
  const rights = right.ways.all;
  for (const first of lefts) for (const second of rights) yield [first, second];
  if (lefts.length > 0 && right.ways.isCertain !== true) {
    const second = constant(flips, right.value);
    for (const first of lefts) yield [first, second];
  }
  if (rights.length > 0 && left.ways.isCertain !== true) {
    const first = constant(flips, left.value);
    for (const second of rights) yield [first, second];
  }
}

function constant(flips: TimeFlips, value: unknown): TimedValue {
  const key = flips.keyOf([constantKey(value)]);
  return { key, at: () => value, staysUntil: never, hasSteps: true };
}

const never = () => Number.POSITIVE_INFINITY;

function hasSteps([first, second]: Pair): boolean {
  return first.hasSteps === true && second.hasSteps === true;
}

function sharedUntil([first, second]: Pair): PeriodEnd | undefined {
  return earlierEnd(first.until, second.until);
}

/** Known only if it is for both. */
function sharedStay([first, second]: Pair): PeriodEnd | undefined {
  return first.staysUntil && second.staysUntil && earlierEnd(first.staysUntil, second.staysUntil);
}

/** Values of other types are compared by JSONata alone: there is no result. */
function ordered(order: Order, [first, second]: Pair): (ms: number) => boolean | undefined {
  return (ms) => {
    const [left, right] = [first.at(ms), second.at(ms)];
    if (!isOrdered(left) || !isOrdered(right) || typeof left !== typeof right) return undefined;
    return order(left, right);
  };
}

/** An equality begins and ends where the order changes. */
function edges([first, second]: Pair): (ms: number) => number {
  return (ms) => position(first.at(ms), [second.at(ms)]);
}

function isOrdered(value: unknown): value is number | string {
  return typeof value === 'number' || typeof value === 'string';
}

function numeric(compute: Numeric, [first, second]: Pair): (ms: number) => number | undefined {
  return (ms) => {
    const [left, right] = [first.at(ms), second.at(ms)];
    return typeof left === 'number' && typeof right === 'number' ? compute(left, right) : undefined;
  };
}

function computed(compute: Numeric, pair: Pair): Omit<TimedValue, 'key'> {
  return {
    at: numeric(compute, pair),
    until: sharedUntil(pair),
    staysUntil: sharedStay(pair),
    hasSteps: hasSteps(pair),
  };
}

/** A remainder starts again where the quotient changes. */
function remainder(flips: TimeFlips, pair: Pair): Omit<TimedValue, 'key'> {
  const until = sharedUntil(pair);
  const quotient = numeric((left, right) => Math.floor(left / right), pair);
  return {
    ...computed((left, right) => left % right, pair),
    until: (ms) => flips.changeAfter(quotient, ms, until),
  };
}
