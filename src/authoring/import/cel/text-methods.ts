import { argument, type Call, type CallRules, literalText } from './call.ts';
import { atom, NoEquivalentError } from './cel-context.ts';
import { type Jsonata, joined, level, operand, quoted } from './jsonata.ts';
import { booleanType, integerType, listOf, shapeOf, textType } from './value-type.ts';

/** Methods of texts. The receiver is the first argument. */
export const textMethods: CallRules = {
  lowerAscii: (call) => text(`$lowercase(${argument(call, 0).text})`),
  upperAscii: (call) => text(`$uppercase(${argument(call, 0).text})`),
  // `$trim` would also change white space inside the text.
  trim: (call) => text(`$replace(${argument(call, 0).text}, /^\\s+|\\s+$/, "")`),
  startsWith: (call) => {
    const start = argument(call, 1);
    return comparison(
      `$substring(${argument(call, 0).text}, 0, ${lengthOf(start)}) = ${operand(start, level.sum)}`,
    );
  },
  endsWith: (call) => {
    const end = argument(call, 1);
    return comparison(
      `$substring(${argument(call, 0).text}, -${lengthOf(end)}) = ${operand(end, level.sum)}`,
    );
  },
  contains: (call) =>
    atom(`$contains(${argument(call, 0).text}, ${argument(call, 1).text})`, booleanType, 'always'),
  matches: (call) =>
    atom(`$contains(${argument(call, 0).text}, ${pattern(call)})`, booleanType, 'always'),
  find: (call) => text(`($match(${argument(call, 0).text}, ${pattern(call)})[0].match ?? "")`),
  findAll: (call) =>
    call.args.length > 2
      ? undefined
      : atom(
          `[$match(${argument(call, 0).text}, ${pattern(call)}).match]`,
          listOf(textType),
          'always',
        ),
  split: (call) =>
    call.args.length > 2
      ? undefined
      : atom(
          `$split(${argument(call, 0).text}, ${argument(call, 1).text})`,
          listOf(textType),
          'always',
        ),
  join: (call) => {
    const separator = call.args[1] === undefined ? '' : `, ${call.args[1].text}`;
    return text(`$join(${argument(call, 0).text}${separator})`);
  },
  replace: (call) => text(`$replace(${call.args.map((each) => each.text).join(', ')})`),
  substring,
  charAt: (call) => text(`$substring(${argument(call, 0).text}, ${argument(call, 1).text}, 1)`),
  indexOf,
  format,
};

function text(source: string): Jsonata {
  return atom(source, textType, 'always');
}

function comparison(source: string): Jsonata {
  return { ...atom(source, booleanType, 'always'), level: level.comparison };
}

function lengthOf({ literal, text: source }: Jsonata): string {
  return typeof literal === 'string' ? String([...literal].length) : `$length(${source})`;
}

/** A regular expression. The syntax of RE2 that JavaScript lacks has no equivalent. */
function pattern(call: Call): string {
  const source = literalText(call, 1);
  const flags = /^\(\?i\)/.test(source) ? 'i' : '';
  const body = source.replace(/^\(\?i\)/, '');
  if (/\(\?P|\(\?[a-z]|\\[AzQEpPC]|\[\[:/.test(body))
    throw new NoEquivalentError(
      `The pattern ${quoted(source)} has syntax that JSONata lacks`,
      call.node.start,
      'Write it without RE2 extensions',
    );
  return `/${body.replaceAll(/\\?\//g, '\\/')}/${flags}`;
}

function substring(call: Call): Jsonata {
  const [own, start, end] = [argument(call, 0), argument(call, 1), call.args[2]];
  if (end === undefined) return text(`$substring(${own.text}, ${start.text})`);
  const length =
    start.literal === 0
      ? end.text
      : typeof start.literal === 'number' && typeof end.literal === 'number'
        ? String(end.literal - start.literal)
        : `${operand(end, level.sum)} - ${operand(start, level.product)}`;
  return text(`$substring(${own.text}, ${start.text}, ${length})`);
}

function indexOf(call: Call): Jsonata | undefined {
  const [own, part] = [argument(call, 0), argument(call, 1)];
  if (call.args.length > 2 || shapeOf(own.type) === 'list') return undefined;
  const found = `$contains(${own.text}, ${part.text})`;
  return atom(
    `(${found} ? $length($substringBefore(${own.text}, ${part.text})) : -1)`,
    integerType,
    'always',
  );
}

/** `"%s-%d".format([a, b])`; other verbs have no equivalent, but a hash in hex is text already. */
function format(call: Call): Jsonata | undefined {
  const { items } = argument(call, 1);
  if (items === undefined) return undefined;
  const parts = literalText(call, 0).split(/(%(?:[sd%xX]|\.\d+f))/);
  const open = [...items];
  const pieces = parts.flatMap((part): readonly Jsonata[] => {
    if (part === '%%') return [{ ...text('"%"'), literal: '%' }];
    if (!/^%/.test(part)) return part === '' ? [] : [{ ...text(quoted(part)), literal: part }];
    const value = open.shift();
    if (value === undefined || (!/^%[sd]$/.test(part) && value.isHash !== true))
      throw new NoEquivalentError(`The format "${part}" has no equivalent`, call.node.start);
    return [value];
  });
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined && shapeOf(only.type) === 'text'
    ? only
    : joined(pieces.length === 1 ? [text('""'), ...pieces] : pieces);
}
