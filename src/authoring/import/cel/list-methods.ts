import { argument, type Call, type CallRules } from './call.ts';
import { atom } from './cel-context.ts';
import { type Jsonata, lambda, level, numericOperand, operand } from './jsonata.ts';
import { joinedLists } from './macros.ts';
import {
  booleanType,
  integerType,
  itemType,
  listOf,
  mapOf,
  numberType,
  shapeOf,
  textType,
} from './value-type.ts';

/** Methods of lists, maps, quantities and optional values. The receiver is the first argument. */
export const otherMethods: CallRules = {
  size,
  orValue: (call) => {
    const [own, fallback] = [argument(call, 0), argument(call, 1)];
    const text = `${operand(own, level.path)} ?? ${operand(fallback, level.path)}`;
    const type = shapeOf(own.type) === 'unknown' ? fallback.type : own.type;
    return { text, level: level.default, type, presence: 'always' };
  },
  or: (call) => {
    const own = argument(call, 0);
    const text = `${operand(own, level.path)} ?? ${operand(argument(call, 1), level.path)}`;
    return { text, level: level.default, type: own.type, presence: 'maybe' };
  },
  hasValue: (call) => atom(`$exists(${argument(call, 0).text})`, booleanType, 'always'),
  value: (call) => argument(call, 0),
  reverse: (call) => {
    const own = argument(call, 0);
    return shapeOf(own.type) === 'text'
      ? atom(`$join($reverse($split(${own.text}, "")))`, textType, 'always')
      : sameList(own, `$reverse(${own.text})`);
  },
  sort: (call) => sameList(argument(call, 0), `[$sort(${argument(call, 0).text})]`),
  distinct: (call) => sameList(argument(call, 0), `[$distinct(${argument(call, 0).text})]`),
  flatten: (call) => (call.args.length > 1 ? undefined : flattened(call)),
  slice: (call) => {
    const [own, from, to] = [0, 1, 2].map((index) => argument(call, index)) as [
      Jsonata,
      Jsonata,
      Jsonata,
    ];
    const test = `$at >= ${operand(from, level.sum)} and $at < ${operand(to, level.sum)}`;
    return sameList(own, `[$filter(${own.text}, ${lambda(['$each', '$at'], test)})]`);
  },
  sum: (call) => atom(`$sum(${argument(call, 0).text})`, itemType(argument(call, 0).type)),
  min: (call) => atom(`$min(${argument(call, 0).text})`, itemType(argument(call, 0).type)),
  max: (call) => atom(`$max(${argument(call, 0).text})`, itemType(argument(call, 0).type)),
  merge: (call) => {
    const [own, other] = [argument(call, 0), argument(call, 1)];
    const type = shapeOf(own.type) === 'map' ? mapOf(itemType(own.type)) : own.type;
    return atom(`$merge([${own.text}, ${other.text}])`, type, 'always');
  },
  isLessThan: (call) => compared(call, '<'),
  isGreaterThan: (call) => compared(call, '>'),
  compareTo: (call) => {
    const [a, b] = sidesOf(call);
    const text = `${a} > ${b} ? 1 : (${a} < ${b} ? -1 : 0)`;
    return { ...atom(text, integerType, 'always'), level: level.choice };
  },
  add: (call) => calculated(call, '+'),
  sub: (call) => calculated(call, '-'),
  asInteger: (call) => atom(argument(call, 0).text, integerType, 'always'),
  asApproximateFloat: (call) => atom(argument(call, 0).text, numberType, 'always'),
};

function sameList({ type }: Jsonata, text: string): Jsonata {
  return atom(text, shapeOf(type) === 'list' ? type : listOf(itemType(type)), 'always');
}

/** `size(x)` and `x.size()` */
export function size(call: Call): Jsonata {
  const own = argument(call, 0);
  const shape = shapeOf(own.type);
  if (shape === 'unknown')
    call.context.notes.add('the type in "size" is not known: elements of a list are counted');
  const text =
    shape === 'text'
      ? `$length(${own.text})`
      : `$count(${shape === 'map' ? `$keys(${own.text})` : own.text})`;
  return atom(text, integerType, 'always');
}

function flattened(call: Call): Jsonata {
  const own = argument(call, 0);
  call.context.notes.delete(joinedLists);
  const join = lambda(['$all', '$more'], '$append($all, $more)');
  return atom(`[$reduce(${own.text}, ${join}, [])]`, itemType(own.type), 'always');
}

function sidesOf(call: Call): readonly [string, string] {
  return [operand(argument(call, 0), level.sum), operand(argument(call, 1), level.sum)];
}

function compared(call: Call, operator: string): Jsonata {
  const [a, b] = sidesOf(call);
  return { ...atom(`${a} ${operator} ${b}`, booleanType, 'always'), level: level.comparison };
}

/** Sums of quantities are numbers. */
function calculated(call: Call, operator: string): Jsonata {
  call.context.notes.add('the sum of quantities is a number, without the unit of the first one');
  const [a, b] = [argument(call, 0), argument(call, 1)];
  const text = `${numericOperand(a, level.sum)} ${operator} ${numericOperand(b, level.product)}`;
  return { ...atom(text, numberType, 'always'), level: level.sum };
}
