import type { SchemaType } from '#compile';
import { escapedPattern } from '#util/escaped-pattern.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { level, literalExpression, operand, quoted } from '../cel/jsonata.ts';
import {
  booleanType,
  integerType,
  isInteger,
  listOf,
  mapType,
  numberType,
  shapeOf,
  textType,
  unknownType,
} from '../cel/value-type.ts';
import { formatText } from './go-format.ts';
import { derived, typeOfSchema, type Value } from './value.ts';

/** A transform applied to a value. A string: why it has no equivalent. */
export function transformed(
  transform: JsonObject,
  value: Value,
  notes: Set<string>,
): Value | string {
  const { type } = transform;
  const settings = transform[String(type)];
  if (type === 'map') return mapped(isJsonObject(settings) ? settings : {}, value);
  if (!isJsonObject(settings)) return `A transform of type "${String(type)}" has no settings`;
  switch (type) {
    case 'match':
      return matched(settings, value);
    case 'math':
      return calculated(settings, value);
    case 'string':
      return textTransformed(settings, value, notes);
    case 'convert':
      return converted(settings, value);
    default:
      return `The transform "${String(type)}" is not known`;
  }
}

/** A failed transform fails the child, as Crossplane does not compose the resource. */
function orError(value: Value, text: string, type: SchemaType, message: string): Value {
  return derived(value, `${text} ?? $error(${quoted(message)})`, type, level.default);
}

/** The type that all values have. */
function typeOfAll(values: readonly unknown[]): SchemaType {
  const types = new Set(values.map((each) => (Number.isInteger(each) ? 'integer' : typeof each)));
  const [type = 'object'] = types;
  return types.size === 1 && type !== 'object' ? typeOfSchema({ type }) : unknownType;
}

function mapped(settings: JsonObject, value: Value): Value | string {
  const pairs = isJsonObject(settings.pairs) ? settings.pairs : settings;
  const shape = shapeOf(value.type);
  if (shape !== 'text' && shape !== 'unknown')
    return `A map needs a text, and the value is a ${shape}`;
  const lookup = `$lookup(${literalExpression(pairs)}, ${value.text})`;
  const type = typeOfAll(Object.values(pairs));
  const isComplete = value.choices?.every((each) => Object.hasOwn(pairs, String(each)));
  return isComplete === true
    ? derived(value, lookup, type)
    : orError(
        value,
        lookup,
        type,
        `The map has no such key, only ${Object.keys(pairs).join(', ')}`,
      );
}

function matched(settings: JsonObject, value: Value): Value | string {
  const patterns = Array.isArray(settings.patterns) ? settings.patterns.filter(isJsonObject) : [];
  const isPath = /^[\w.`[\]]+$/.test(value.text);
  const input = isPath ? value.text : '$value';
  const isInput = settings.fallbackTo === 'Input';
  const { fallbackValue = null } = settings;
  const fallback = isInput ? input : literalExpression(fallbackValue);
  const type = typeOfAll([
    ...patterns.map(({ result }) => result),
    ...(isInput || fallbackValue === null ? [] : [fallbackValue]),
  ]);
  const choices: string[] = [];
  for (const { type: by = 'literal', literal, regexp, result } of patterns) {
    if (by === 'literal') choices.push(`${input} = ${literalExpression(literal)}`);
    else {
      const pattern = regularExpression(String(regexp));
      if (pattern === undefined)
        return `The regular expression "${String(regexp)}" has no equivalent`;
      choices.push(`$contains(${input}, ${pattern})`);
    }
    choices.push(` ? ${literalExpression(result)} : `);
  }
  if (choices.length === 0) return 'There are no patterns';
  const hasFallback = isInput || fallbackValue !== null;
  const text = hasFallback ? choices.join('') + fallback : choices.join('').replace(/ : $/, '');
  return isPath
    ? derived(value, text, type, level.choice)
    : derived(value, `($value := ${value.text}; ${text})`, type);
}

function calculated(settings: JsonObject, value: Value): Value | string {
  const { type = 'Multiply', multiply, clampMin, clampMax } = settings;
  const own = shapeOf(value.type) === 'number' ? value.type : numberType;
  switch (String(type).toLowerCase()) {
    case 'multiply':
      return derived(
        value,
        `${operand(value, level.product)} * ${String(multiply)}`,
        own,
        level.product,
      );
    case 'clampmin':
      return derived(value, `$max([${value.text}, ${String(clampMin)}])`, own);
    case 'clampmax':
      return derived(value, `$min([${value.text}, ${String(clampMax)}])`, own);
    default:
      return `The calculation "${String(type)}" is not known`;
  }
}

function textTransformed(settings: JsonObject, value: Value, notes: Set<string>): Value | string {
  const { type = 'Format', fmt, convert, trim, regexp, join, replace } = settings;
  const text = asText(value);
  switch (type) {
    case 'Format':
      return formatText(String(fmt), [value]);
    case 'Convert':
      return convertedText(String(convert), value, notes);
    case 'TrimPrefix':
      return derived(value, `$replace(${text}, /^${literalPattern(String(trim))}/, "")`, textType);
    case 'TrimSuffix':
      return derived(value, `$replace(${text}, /${literalPattern(String(trim))}$/, "")`, textType);
    case 'Regexp':
      return extracted(isJsonObject(regexp) ? regexp : {}, value, text);
    case 'Join': {
      const separator = isJsonObject(join) ? String(join.separator ?? '') : '';
      return derived(value, `$join(${value.text}, ${quoted(separator)})`, textType);
    }
    case 'Replace': {
      const { search = '', replace: by = '' } = isJsonObject(replace) ? replace : {};
      const [from, to] = [quoted(String(search)), quoted(String(by))];
      return derived(value, `$replace(${text}, ${from}, ${to})`, textType);
    }
    default:
      return `The transform "${String(type)}" of texts is not known`;
  }
}

/** Transforms of texts also accept other values. */
function asText(value: Value): string {
  return ['number', 'boolean'].includes(shapeOf(value.type))
    ? `$string(${value.text})`
    : value.text;
}

const textFunctions: Readonly<Record<string, string>> = {
  ToUpper: '$uppercase',
  ToLower: '$lowercase',
  ToBase64: '$base64encode',
  FromBase64: '$base64decode',
};

function convertedText(convert: string, value: Value, notes: Set<string>): Value | string {
  const name = textFunctions[convert];
  if (name !== undefined) return derived(value, `${name}(${asText(value)})`, textType);
  if (convert === 'ToJson') return derived(value, `$json(${value.text})`, textType);
  if (!/^To(?:Sha|Adler)/.test(convert)) return `The conversion "${convert}" is not known`;
  notes.add(`"$hash" gives other texts than "${convert}"`);
  return derived(value, `$hash(${value.text})`, textType);
}

function extracted({ match, group = 0 }: JsonObject, value: Value, text: string): Value | string {
  const pattern = regularExpression(String(match));
  if (pattern === undefined) return `The regular expression "${String(match)}" has no equivalent`;
  const found = `$match(${text}, ${pattern}, 1)`;
  const part = Number(group) === 0 ? `${found}.match` : `${found}.groups[${Number(group) - 1}]`;
  return orError(value, part, textType, `The text does not match ${String(match)}`);
}

/** The body of a regular expression literal. */
function literalPattern(text: string): string {
  return escapedPattern(text).replaceAll('/', '\\/');
}

/** A Go pattern as a literal of JSONata; flags only at its start. */
function regularExpression(pattern: string): string | undefined {
  const [, flags = '', rest = ''] = /^(?:\(\?([im]+)\))?([\s\S]*)$/.exec(pattern) ?? [];
  if (rest === '' || rest.includes('(?i') || rest.includes('(?s')) return undefined;
  return `/${rest.replaceAll(/(?<!\\)\//g, '\\/')}/${flags}`;
}

const trueTexts = '["1", "t", "true"]';

function converted({ toType, format = 'none' }: JsonObject, value: Value): Value | string {
  const shape = shapeOf(value.type);
  const { text } = value;
  switch (toType) {
    case 'string':
      if (shape === 'list' || shape === 'map') return `A ${shape} is not converted to a text`;
      return shape === 'text' ? value : derived(value, `$string(${text})`, textType);
    case 'int':
    case 'int64':
      if (isInteger(value.type)) return value;
      if (shape === 'boolean') return derived(value, `(${text} ? 1 : 0)`, integerType);
      return shape === 'number'
        ? derived(value, `$floor(${text})`, integerType)
        : derived(value, `$number(${text})`, integerType);
    case 'float64':
      if (format === 'quantity') return derived(value, `$quantity(${text})`, numberType);
      return shape === 'number' ? value : derived(value, `$number(${text})`, numberType);
    case 'bool':
      if (shape === 'boolean') return value;
      return shape === 'number'
        ? derived(value, `${operand(value, level.sum)} = 1`, booleanType, level.comparison)
        : derived(
            value,
            `$lowercase($string(${text})) in ${trueTexts}`,
            booleanType,
            level.comparison,
          );
    case 'object':
    case 'array': {
      const type = toType === 'array' ? listOf(unknownType) : mapType;
      if (format === 'json') return derived(value, `$parseJson(${text})`, type);
      return shape === 'text' ? `A text is converted to an ${toType} with "format: json"` : value;
    }
    default:
      return `The type "${String(toType)}" is not known`;
  }
}
