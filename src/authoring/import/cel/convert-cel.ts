import type { SchemaType } from '#compile';
import { type CelNode, literalOf } from '#sandbox';
import { atom, type CelContext, NoEquivalentError } from './cel-context.ts';
import { convertCall } from './convert-call.ts';
import { type Jsonata, joined, level, numericOperand, operand, step } from './jsonata.ts';
import { convertMacro } from './macros.ts';
import {
  booleanType,
  fieldOfType,
  integerType,
  isInteger,
  itemType,
  listOf,
  mapOf,
  numberType,
  shapeOf,
  textType,
  unknownType,
} from './value-type.ts';

/**
 * Converts a parsed CEL expression to JSONata. What differs is added to `context.notes`.
 * @throws NoEquivalentError at the first part without an equivalent
 */
export function convertCel(node: CelNode, context: CelContext): Jsonata {
  switch (node.op) {
    case 'value':
      return literal(node);
    case 'id':
      return named(node.args, node.start, context);
    case '.':
    case '.?': {
      const [object, name] = node.args;
      return field(convertCel(object, context), String(name), node);
    }
    case '[]':
    case '[?]':
      return indexed(node.args[0], node.args[1], context);
    case 'list':
      return list(
        node.args.map((item) => convertCel(item, context)),
        context,
      );
    case 'map':
      return map(node.args, context);
    case '?:':
      return choice(node.args, context);
    case '&&':
    case '||':
      return logical(node, context);
    case '!_': {
      const inner = convertCel(node.args, context);
      return atom(`$not(${inner.text})`, booleanType, 'always');
    }
    case '-_':
      return negative(node, context);
    case '==':
    case '!=':
      return equality(node, context);
    case 'call':
    case 'rcall':
      return convertMacro(node, context, convertCel) ?? convertCall(node, context, convertCel);
    default:
      return binary(node, context);
  }
}

function literal(node: CelNode): Jsonata {
  const value = literalOf(node);
  if (value === undefined)
    throw new NoEquivalentError('Bytes have no equivalent', node.start, 'Use text');
  if (value === null) return atom('null');
  const type = literalType(node.args, value);
  return { ...atom(JSON.stringify(value), type, 'always'), literal: value };
}

/** CEL writes `2` for an integer and `2.0` for a double. */
function literalType(raw: unknown, value: string | number | boolean): SchemaType {
  if (typeof value === 'string') return textType;
  if (typeof value === 'boolean') return booleanType;
  return typeof raw === 'number' ? numberType : integerType;
}

function named(name: string, offset: number, { variables, explainName }: CelContext): Jsonata {
  const found = variables.get(name);
  if (found !== undefined) return found;
  throw new NoEquivalentError(explainName?.(name) ?? `There is no variable "${name}"`, offset);
}

function field(object: Jsonata, name: string, node: CelNode): Jsonata {
  const { type, isAlwaysSet, isDroppedZero } = fieldOfType(object.type, name);
  const isRoot = object.text === '';
  if (isRoot && !['spec', 'metadata', 'status', 'apiVersion', 'kind'].includes(name))
    throw new NoEquivalentError(`The resource has no field "${name}"`, node.pos);
  const isSet = isRoot || (isAlwaysSet && object.presence === 'always');
  const presence = isSet ? 'always' : isDroppedZero ? 'zero' : 'maybe';
  const text = isRoot ? step(name) : `${operand(object, level.path)}.${step(name)}`;
  return atom(text, type, isKnownMetadata(text) ? 'always' : presence);
}

/** Names and UIDs of stored objects exist, whatever the schema requires. */
function isKnownMetadata(text: string): boolean {
  return /(?:^|\.)metadata\.(?:name|namespace|uid)$/.test(text);
}

function indexed(objectNode: CelNode, keyNode: CelNode, context: CelContext): Jsonata {
  const object = convertCel(objectNode, context);
  const key = literalOf(keyNode);
  const type = itemType(object.type);
  if (typeof key === 'string') return field(object, key, keyNode);
  const base = operand(object, level.path);
  if (typeof key === 'number') return atom(`${base}[${key}]`, type);
  const computed = convertCel(keyNode, context);
  const isKey = shapeOf(object.type) === 'map' || shapeOf(computed.type) === 'text';
  if (isKey) return atom(`$lookup(${object.text}, ${computed.text})`, type);
  // In a predicate, names are fields of the item.
  if (/^\$\w+$/.test(computed.text)) return atom(`${base}[${computed.text}]`, type);
  return atom(`($at := ${computed.text}; ${base}[$at])`, type);
}

function list(items: readonly Jsonata[], { notes }: CelContext): Jsonata {
  const [first] = items;
  if (items.some(({ type }) => shapeOf(type) === 'list'))
    notes.add('lists inside a list are joined to one list');
  const text = `[${items.map(({ text }) => text).join(', ')}]`;
  return { ...atom(text, listOf(first?.type ?? unknownType), 'always'), items };
}

function map(
  entries: readonly (readonly [key: CelNode, value: CelNode])[],
  context: CelContext,
): Jsonata {
  const fields = entries.map(([keyNode, valueNode]) => {
    const key = convertCel(keyNode, context);
    const name = typeof key.literal === 'string' ? key.text : `$string(${key.text})`;
    return {
      name: shapeOf(key.type) === 'text' ? key.text : name,
      value: convertCel(valueNode, context),
    };
  });
  const text = fields.map(({ name, value }) => `${name}: ${value.text}`).join(', ');
  const [first] = fields;
  const isUniform = fields.every(
    ({ value }) => shapeOf(value.type) === shapeOf(first?.value.type ?? unknownType),
  );
  const type = mapOf(isUniform ? (first?.value.type ?? unknownType) : unknownType);
  return atom(text === '' ? '{}' : `{ ${text} }`, type, 'always');
}

/** `omit()` and `optional.none()` have no value: that branch is left out. */
function choice(
  [testNode, thenNode, elseNode]: readonly [CelNode, CelNode, CelNode],
  context: CelContext,
): Jsonata {
  const test = convertCel(testNode, context);
  const first = convertCel(thenNode, context);
  const second = convertCel(elseNode, context);
  const partial = { level: level.choice, presence: 'maybe' } as const;
  if (second.text === '()')
    return {
      ...partial,
      type: first.type,
      text: `${operand(test, level.or)} ? ${operand(first, level.or)}`,
    };
  if (first.text === '()')
    return {
      ...partial,
      type: second.type,
      text: `$not(${test.text}) ? ${operand(second, level.or)}`,
    };
  const type = shapeOf(first.type) === shapeOf(second.type) ? first.type : unknownType;
  const isSet = first.presence === 'always' && second.presence === 'always';
  return {
    text: `${operand(test, level.or)} ? ${numericOperand(first, level.or)} : ${numericOperand(second, level.choice)}`,
    level: level.choice,
    type,
    presence: isSet ? 'always' : 'maybe',
  };
}

function logical(node: CelNode & { op: '&&' | '||' }, context: CelContext): Jsonata {
  const [a, b] = node.args.map((each) => convertCel(each, context)) as [Jsonata, Jsonata];
  const own = node.op === '&&' ? level.and : level.or;
  const word = node.op === '&&' ? 'and' : 'or';
  const text = `${operand(a, own)} ${word} ${operand(b, own)}`;
  return { text, level: own, type: booleanType, presence: 'always' };
}

function negative(node: CelNode & { op: '-_' }, context: CelContext): Jsonata {
  const value = literalOf(node);
  if (typeof value === 'number')
    return {
      ...atom(String(value), convertCel(node.args, context).type, 'always'),
      level: level.sign,
      literal: value,
    };
  const inner = convertCel(node.args, context);
  const text = `-${numericOperand(inner, level.path)}`;
  return { text, level: level.sign, type: inner.type, presence: inner.presence };
}

function equality(node: CelNode & { op: '==' | '!=' }, context: CelContext): Jsonata {
  const [left, right] = node.args;
  const withNull = literalOf(left) === null ? right : literalOf(right) === null ? left : undefined;
  if (withNull !== undefined) {
    const exists = `$exists(${convertCel(withNull, context).text})`;
    const text = node.op === '==' ? `$not(${exists})` : exists;
    return atom(text, booleanType, 'always');
  }
  const sides = [left, right].map((each) => convertCel(each, context)) as [Jsonata, Jsonata];
  const [a, b] = sides.map((side) => numericOperand(side, level.sum));
  const text = `${a} = ${b}`;
  // In JSONata `!=` is false where a side is missing.
  if (node.op === '!=') return atom(`$not(${text})`, booleanType, 'always');
  return { text, level: level.comparison, type: booleanType, presence: 'always' };
}

const comparisons: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

function binary(node: CelNode, context: CelContext): Jsonata {
  const [a, b] = (node.args as readonly CelNode[]).map((each) => convertCel(each, context)) as [
    Jsonata,
    Jsonata,
  ];
  const isSet = a.presence !== 'maybe' && b.presence !== 'maybe';
  const presence = isSet ? 'always' : 'maybe';
  if (comparisons.has(node.op)) {
    const text = `${numericOperand(a, level.sum)} ${node.op} ${numericOperand(b, level.sum)}`;
    return { text, level: level.comparison, type: booleanType, presence };
  }
  if (node.op === 'in') return membership(a, b);
  if (node.op === '+') return sum(a, b, context);
  return arithmetic(node.op, a, b, { presence, notes: context.notes });
}

function membership(item: Jsonata, container: Jsonata): Jsonata {
  const isMap = shapeOf(container.type) === 'map';
  const from = isMap ? `$keys(${container.text})` : operand(container, level.sum);
  const text = `${operand(item, level.sum)} in ${from}`;
  return { text, level: level.comparison, type: booleanType, presence: 'always' };
}

function sum(a: Jsonata, b: Jsonata, { notes }: CelContext): Jsonata {
  const shapes = [shapeOf(a.type), shapeOf(b.type)];
  if (shapes.includes('list'))
    return atom(`$append(${a.text}, ${b.text})`, shapes[0] === 'list' ? a.type : b.type, 'always');
  if (shapes.includes('number')) return arithmetic('+', a, b, { presence: 'always', notes });
  if (!shapes.includes('text'))
    notes.add('the types of "+" are not known: it joins texts, write "+" for numbers');
  return joined([a, b]);
}

function arithmetic(
  op: string,
  a: Jsonata,
  b: Jsonata,
  { presence, notes }: Pick<Jsonata, 'presence'> & Pick<CelContext, 'notes'>,
): Jsonata {
  const own = op === '+' || op === '-' ? level.sum : level.product;
  const isWhole = isInteger(a.type) && isInteger(b.type);
  const type = isWhole ? integerType : numberType;
  const text = `${numericOperand(a, own)} ${op} ${numericOperand(b, own + 1)}`;
  if (op !== '/' || !isWhole) return { text, level: own, type, presence };
  notes.add('a negative quotient is rounded down, in CEL to zero');
  return atom(`$floor(${text})`, integerType, presence);
}
