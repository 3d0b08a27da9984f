import { argument, type Call, type CallRules } from './call.ts';
import { atom } from './cel-context.ts';
import { type Jsonata, level, operand, quoted, withDefault } from './jsonata.ts';
import { size } from './list-methods.ts';
import {
  booleanType,
  integerType,
  isInteger,
  listOf,
  numberType,
  shapeOf,
  textType,
} from './value-type.ts';

/** Functions without a receiver; `lists.range` and the like by their whole name. */
export const globalFunctions: CallRules = {
  size,
  string: asText,
  int: asInteger,
  uint: asInteger,
  double: (call) => asNumber(argument(call, 0)),
  bool: (call) => {
    const own = argument(call, 0);
    if (shapeOf(own.type) === 'boolean') return own;
    return {
      ...atom(`${operand(own, level.sum)} = "true"`, booleanType, 'always'),
      level: level.comparison,
    };
  },
  // Bytes are only made to be encoded or hashed, or made of text and read as text.
  bytes: (call) => argument(call, 0),
  dyn: (call) => argument(call, 0),
  omit: () => atom('()'),
  quantity: (call) => {
    const own = argument(call, 0);
    return { ...atom(`$quantity(${own.text})`, numberType, 'always'), uncast: own };
  },
  duration: (call) => atom(`$duration(${argument(call, 0).text})`, numberType, 'always'),
  'optional.none': () => atom('()'),
  'optional.of': (call) => argument(call, 0),
  'lists.range': (call) => {
    const { literal, ...end } = argument(call, 0);
    const last =
      typeof literal === 'number' ? String(literal - 1) : `${operand(end, level.sum)} - 1`;
    return atom(`[0..${last}]`, listOf(integerType), 'always');
  },
  'math.greatest': (call) => extreme(call, '$max'),
  'math.least': (call) => extreme(call, '$min'),
  'base64.encode': (call) => atom(`$base64encode(${argument(call, 0).text})`, textType, 'always'),
  'base64.decode': (call) => atom(`$base64decode(${argument(call, 0).text})`, textType, 'always'),
  'json.marshal': (call) => atom(`$json(${argument(call, 0).text})`, textType, 'always'),
  'json.unmarshal': (call) => atom(`$parseJson(${argument(call, 0).text})`),
  'hash.fnv64a': hash,
  'hash.sha256': hash,
  'hash.md5': hash,
  'random.seededString': seededString,
  'runtime.condition': (call) =>
    atom(`$condition(${argument(call, 0).text}, ${argument(call, 1).text})`),
};

function asText(call: Call): Jsonata {
  const own = argument(call, 0);
  // The text of a quantity is the quantity as it was written.
  const source = own.uncast ?? own;
  if (shapeOf(source.type) === 'text') return source;
  if (source.presence !== 'zero')
    return { ...atom(`$string(${source.text})`, textType, source.presence), uncast: source };
  const text = `$string(${withDefault(source, '0')})`;
  return { ...atom(text, textType, 'always'), uncast: source };
}

function asInteger(call: Call): Jsonata {
  const own = argument(call, 0);
  if (isInteger(own.type)) return own;
  const number = asNumber(own).text;
  const text = shapeOf(own.type) === 'number' ? `$floor(${number})` : number;
  return atom(text, integerType, own.presence);
}

function asNumber(own: Jsonata): Jsonata {
  if (shapeOf(own.type) === 'number') return { ...own, type: numberType };
  return atom(`$number(${own.text})`, numberType, own.presence);
}

function extreme({ args }: Call, name: string): Jsonata {
  const [only] = args;
  const isList = args.length === 1 && only !== undefined && shapeOf(only.type) === 'list';
  const list = isList ? only.text : `[${args.map(({ text }) => text).join(', ')}]`;
  return atom(`${name}(${list})`, only?.type ?? numberType, 'always');
}

function hash(call: Call): Jsonata {
  call.context.notes.add(`"$hash" gives other texts than "${call.name}"`);
  return { ...atom(`$hash(${argument(call, 0).text})`, textType, 'always'), isHash: true };
}

/** The characters of one `$hash`. */
const hashLength = 10;

/** Hashes of the seed: constant for one resource, as in kro. */
function seededString(call: Call): Jsonata | undefined {
  const [{ literal: length }, seed] = [argument(call, 0), argument(call, 1)];
  if (typeof length !== 'number') return undefined;
  call.context.notes.add(`"$hash" gives other texts than "${call.name}"`);
  const count = Math.ceil(length / hashLength);
  const parts = Array.from({ length: count }, (_, index) =>
    index === 0
      ? `$hash(${seed.text})`
      : `$hash(${operand(seed, level.sum)} & ${quoted(`-${index}`)})`,
  );
  const all = parts.join(' & ');
  return atom(
    length === count * hashLength
      ? count === 1
        ? all
        : `(${all})`
      : `$substring(${all}, 0, ${length})`,
    textType,
    'always',
  );
}
