import { Environment } from '@marcbachmann/cel-js';
import { isJsonObject, type Json } from '#util/json.ts';
import { isJsonList } from '../json-fields.ts';
import { type StructuralSchema, schemaOfField } from '../schema/structural-schema.ts';
import { registerQuantities } from './cel-quantity.ts';

/** Parses rules. */
export type CelEnvironment = Pick<Environment, 'parse'>;

/** An environment for rules of CRDs. It is built when the first rule is parsed: most CRDs have none. */
export function createCelEnvironment(): CelEnvironment {
  let environment: Environment | undefined;
  return {
    parse(text) {
      environment ??= buildEnvironment();
      return environment.parse(text);
    },
  };
}

function buildEnvironment(): Environment {
  return baseEnvironment({ unlistedVariablesAreDyn: true })
    .registerVariable('self', 'dyn')
    .registerVariable('oldSelf', 'dyn');
}

/** With functions that the library lacks. Not supported: URLs, addresses, versions, formats. */
export function baseEnvironment(options: {
  readonly unlistedVariablesAreDyn: boolean;
}): Environment {
  const environment = new Environment({
    ...options,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
  });
  for (const [signature, handler] of functions) environment.registerFunction(signature, handler);
  registerQuantities(environment);
  return environment;
}

type Handler = (...values: never[]) => unknown;

const functions: readonly (readonly [signature: string, handler: Handler])[] = [
  ['list.sum(): dyn', (list: readonly Summand[]) => list.reduce(add, 0n)],
  ['list.min(): dyn', (list: readonly Ordered[]) => bestOf(list, (a, b) => a < b)],
  ['list.max(): dyn', (list: readonly Ordered[]) => bestOf(list, (a, b) => a > b)],
  ['list.isSorted(): bool', isSorted],
  [
    'list.indexOf(dyn): int',
    (list: readonly unknown[], item: unknown) => BigInt(list.indexOf(item)),
  ],
  [
    'list.lastIndexOf(dyn): int',
    (list: readonly unknown[], item: unknown) => BigInt(list.lastIndexOf(item)),
  ],
  ['string.charAt(int): string', (text: string, at: bigint) => text.charAt(Number(at))],
  [
    'string.replace(string, string): string',
    (text: string, a: string, b: string) => text.replaceAll(a, b),
  ],
  [
    'string.find(string): string',
    (text: string, pattern: string) => new RegExp(pattern).exec(text)?.[0] ?? '',
  ],
  [
    'string.findAll(string): list',
    (text: string, pattern: string) => text.match(new RegExp(pattern, 'g')) ?? [],
  ],
];

type Summand = bigint | number;
type Ordered = bigint | number | string;

function add(sum: Summand, item: Summand): Summand {
  if (typeof sum === 'bigint' && typeof item === 'bigint') return sum + item;
  return Number(sum) + Number(item);
}

function bestOf(list: readonly Ordered[], isBetter: (a: Ordered, b: Ordered) => boolean): Ordered {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error('min or max called on empty list');
  return rest.reduce((best, item) => (isBetter(item, best) ? item : best), first);
}

function isSorted(list: readonly Ordered[]): boolean {
  return list.every((item, index) => {
    const before = list[index - 1];
    return before === undefined || before <= item;
  });
}

const reserved: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

/** Converts a value for rules: integers stay integers, field names are escaped for CEL. */
export function toCel(value: Json, schema: StructuralSchema | undefined): unknown {
  if (isJsonList(value)) return value.map((item) => toCel(item, schema?.items));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, field = null]) => [
        schema?.properties === undefined ? name : celName(name),
        toCel(field, schemaOfField(schema, name)),
      ]),
    );
  if (typeof value === 'number')
    return Number.isInteger(value) && schema?.type !== 'number' ? BigInt(value) : value;
  if (typeof value === 'string' && schema?.type === 'string' && isTime(schema.format))
    return new Date(value);
  return value;
}

function isTime(format: string | undefined): boolean {
  return format === 'date-time' || format === 'date';
}

/** The escaped name: `a-b` is `a__dash__b`, `namespace` is `__namespace__`. */
export function celName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
