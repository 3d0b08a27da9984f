import { didYouMean } from '#util/did-you-mean.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import { parseQuantity } from '#util/quantity.ts';
import { roundedNumber } from '../language/index.ts';
import type {
  BranchType,
  ListType,
  MapType,
  ScalarName,
  ScalarType,
  SchemaType,
  StructType,
} from '../schema/schema-type.ts';
import { describeFound, fieldBelow, fieldBelowKey } from './values.ts';

/** The target type of a coercion, and its name in messages. */
interface CoercionTarget {
  readonly type: SchemaType | undefined;
  /** Name of the target field in messages. */
  readonly field: string;
  /** May messages quote short values, and keys that the schema does not name? Never those of Secrets. */
  readonly quotes: boolean;
}

/** `unlisted`: not in the `enum` of the schema. */
export type CoercionErrorCode = 'wrong-type' | 'unknown-field' | 'unlisted';

/** A value that cannot be coerced. */
export class CoercionError extends HomeostatError<CoercionErrorCode> {
  readonly hint: string | undefined;
  constructor(code: CoercionErrorCode, message: string, hint?: string) {
    super(code, message);
    this.hint = hint;
  }
}

/**
 * Coerces a result to the schema of its field, recursively (docs/definition/expressions.md#types). Returns the same value
 * if nothing changes. Undefined stays undefined.
 * @throws CoercionError if the value does not match.
 */
export function coerce(value: unknown, target: CoercionTarget): unknown {
  const { type } = target;
  if (type === undefined || value === undefined) return value;
  switch (type.kind) {
    case 'any':
      return value;
    case 'scalar':
      return value === null ? value : coerceScalarField(value, type, target);
    case 'list':
      return value === null ? value : coerceList(value, type, target);
    case 'map':
      return value === null ? value : coerceMap(value, type, target);
    case 'struct':
      return value === null ? value : coerceStruct(value, type, target);
    case 'branch':
      return coerceBranch(value, type, target);
  }
}

function coerceScalarField(value: unknown, type: ScalarType, target: CoercionTarget): unknown {
  if (hasLostDigits(value, type)) {
    const found = describeFound(value, target.quotes);
    const message = `Expected an integer below 2^53 at ${target.field}, found ${found}`;
    throw new CoercionError('wrong-type', message, 'Larger integers lose digits: use strings');
  }
  const fitted = coerceScalar(value, type);
  if (fitted === undefined)
    throw mismatch(scalarNames(type), value, target, quantityHint(value, type));
  return fitted;
}

/** Kubernetes writes units without "B". `value`: a text, maybe with an expression in place of its number. */
export function quantityHint(value: unknown, { format }: ScalarType): string | undefined {
  if (format !== 'quantity' || typeof value !== 'string') return undefined;
  const [, number, unit = ''] = /^([\d.]+|\$\{.*\}) ?([kmgtp])i?b?$/i.exec(value) ?? [];
  return number && `Write "${number}${unit.toUpperCase()}i"`;
}

function coerceList(value: unknown, type: ListType, target: CoercionTarget): unknown {
  // JSONata unwraps a list of one element.
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const fitted = items.map((item, index) => {
    const field = fieldBelow(target.field, index);
    const inner = { ...target, type: type.item, field };
    if (item === null && type.item.kind !== 'any' && type.keepsNull !== true)
      throw mismatch(typeName(type.item), item, inner);
    return coerce(item, inner);
  });
  return Array.isArray(value) && fitted.every((item, index) => item === value[index])
    ? value
    : fitted;
}

function coerceMap(value: unknown, type: MapType, target: CoercionTarget): unknown {
  return coerceFields(objectOf(value, target), (key, field) => {
    if (field === null && !type.keepsNull) return undefined;
    const inner = fieldBelowKey(target.field, key, target.quotes);
    return coerce(field, { ...target, type: type.item, field: inner });
  });
}

function coerceStruct(value: unknown, type: StructType, target: CoercionTarget): unknown {
  return coerceFields(objectOf(value, target), (key, field) => {
    const known = type.fields.get(key);
    if (known === undefined) {
      if (!type.open) throw unknownField(type, key, target);
      return field;
    }
    if (field === null && !known.keepsNull) return undefined;
    return coerce(field, { ...target, type: known.type, field: fieldBelow(target.field, key) });
  });
}

/** A schema, a list of schemas or names, or a plain value. */
function coerceBranch(value: unknown, type: BranchType, target: CoercionTarget): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      coerceBranch(item, type, { ...target, field: fieldBelow(target.field, index) }),
    );
  }
  return typeof value === 'object' ? coerce(value, { ...target, type: type.either }) : value;
}

type Fields = Readonly<Record<string, unknown>>;

/** `null` is a missing value: the field is omitted, unless it is nullable. */
function coerceFields(object: Fields, fitField: (key: string, value: unknown) => unknown): Fields {
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const value = object[key];
    const fitted = fitField(key, value);
    if (fitted === value) continue;
    changed ??= { ...object };
    if (fitted === undefined) delete changed[key];
    else changed[key] = fitted;
  }
  return changed ?? object;
}

function objectOf(value: unknown, target: CoercionTarget): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw mismatch('a map', value, target);
  }
  return value as Fields;
}

/** The error for a field that a kind lacks; the server would reject the whole object. `field`: the map that contains it. */
export function unknownField(
  type: StructType,
  key: string,
  { field, quotes }: Omit<CoercionTarget, 'type'>,
): CoercionError {
  if (!quotes)
    return new CoercionError('unknown-field', `Unknown field in ${field || 'the manifest'}`);
  const hint = didYouMean(key, type.fields.keys());
  return new CoercionError('unknown-field', `Unknown field ${fieldBelow(field, key)}`, hint);
}

function mismatch(
  expected: string,
  value: unknown,
  { field, quotes }: CoercionTarget,
  hint?: string,
): CoercionError {
  const found = describeFound(value, quotes);
  return new CoercionError('wrong-type', `Expected ${expected} at ${field}, found ${found}`, hint);
}

/** The display name of a type. */
export function typeName(type: SchemaType): string {
  switch (type.kind) {
    case 'scalar':
      return scalarNames(type);
    case 'list':
      return 'a list';
    case 'map':
    case 'struct':
    case 'branch':
      return 'a map';
    case 'any':
      return 'a value';
  }
}

/**
 * Coerces a literal of a template. Stricter than {@link coerce} where the author can easily write the correct type,
 * and where YAML changes the value: `1.10` is the number 1.1, so it is not converted to a string. @throws
 * CoercionError
 */
export function coerceLiteral(value: unknown, target: CoercionTarget): unknown {
  const { type, field, quotes } = target;
  const isText = type?.kind === 'scalar' && type.accepts.includes('string');
  if (isText && typeof value === 'number' && !type.accepts.includes('number')) {
    if (!Number.isSafeInteger(value)) {
      const found = quotes ? `the number ${describeFound(value, quotes)}` : 'a number';
      const message = `Expected a string at ${field}, found ${found}`;
      throw new CoercionError('wrong-type', message, 'Quote it');
    }
  }
  if (type?.kind === 'list' && !Array.isArray(value) && value !== null) {
    const message = `Expected a list at ${field}, found ${describeFound(value, quotes)}`;
    throw new CoercionError('wrong-type', message, 'Write it as an item of a list: [ ... ]');
  }
  const fitted = coerce(value, target);
  if (type?.kind === 'scalar' && type.enum !== undefined) assertInEnum(fitted, type.enum, target);
  return fitted;
}

/** The server rejects values that are not in the enum. The empty string counts as no value. */
function assertInEnum(value: unknown, listed: readonly unknown[], target: CoercionTarget): void {
  if (value === null || value === '' || listed.includes(value)) return;
  const expected = listed.map((each) => JSON.stringify(each)).join(', ');
  const found = describeFound(value, target.quotes);
  const hint = didYouMean(String(value), listed.map(String));
  const message = `Expected one of ${expected} at ${target.field}, found ${found}`;
  throw new CoercionError('unlisted', message, hint);
}

/** Coerces a scalar to its type; undefined if it does not match. */
function coerceScalar(value: unknown, type: ScalarType): unknown {
  const { accepts } = type;
  if (accepts.includes('unknown')) return value;
  switch (typeof value) {
    case 'string':
      return coerceString(value, type);
    case 'number':
      return coerceNumber(value, type);
    case 'bigint':
      return coerceBigInteger(value, type);
    case 'boolean':
      return accepts.includes('boolean') ? value : toStringValue(value, type);
    default:
      return undefined;
  }
}

/** An integer that was computed and that JavaScript has rounded: `9007199254740992 + 1` is `9007199254740992`. */
function hasLostDigits(value: unknown, { accepts, format }: ScalarType): boolean {
  const isExact = format === 'exact' && !accepts.includes('number') && !accepts.includes('unknown');
  return isExact && Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Converts a number or boolean to a string, except for times and base64. */
function toStringValue(
  value: number | boolean,
  { accepts, format }: ScalarType,
): string | undefined {
  if (!accepts.includes('string') || format !== 'exact') return undefined;
  return String(typeof value === 'number' ? roundedNumber(value) : value);
}

function coerceString(text: string, { accepts, builtIn, format }: ScalarType): unknown {
  if (format === 'quantity') return parseQuantity(text) === undefined ? undefined : text;
  if (accepts.includes('string')) {
    // A string of digits is never a valid port name or percentage, and Handlebars can only return strings.
    const isIntOrString = builtIn && accepts.includes('integer');
    return (isIntOrString ? integerOf(text) : undefined) ?? text;
  }
  if (accepts.includes('integer')) {
    const integer = integerOf(text);
    if (integer !== undefined) return integer;
  }
  if (accepts.includes('number') && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) {
    const number = Number(text);
    if (Number.isFinite(number)) return number;
  }
  if (accepts.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return undefined;
}

function coerceNumber(number: number, type: ScalarType): unknown {
  const { accepts } = type;
  // The server rounds a quantity up: 0.30000000000000004 would be 300000001n.
  if (accepts.includes('number'))
    return type.format === 'quantity' ? roundedNumber(number) : number;
  if (accepts.includes('integer') && Number.isInteger(number)) return number;
  return toStringValue(number, type);
}

/** An integer of the API server, with all its digits. */
function coerceBigInteger(integer: bigint, { accepts, format }: ScalarType): unknown {
  if (format === 'quantity') return String(integer);
  if (accepts.includes('integer') || accepts.includes('number')) return integer;
  return accepts.includes('string') && format === 'exact' ? String(integer) : undefined;
}

/** Parses an integer within the safe range of a number. */
function integerOf(text: string): number | undefined {
  if (!/^-?(0|[1-9]\d*)$/.test(text)) return undefined;
  const integer = Number(text);
  return Number.isSafeInteger(integer) ? integer : undefined;
}

const names: Readonly<Record<ScalarName, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  unknown: 'a value',
};

/** The display name of a scalar type: `an integer or a text`. */
function scalarNames({ accepts, format }: ScalarType): string {
  if (format === 'quantity') return 'a quantity';
  if (format === 'time') return 'a time';
  return accepts.map((name) => names[name]).join(' or ');
}
