import { Environment } from '@marcbachmann/cel-js';

/** What rules of CRDs may call beside what the library has. Not there: URLs, addresses, quantities, versions, formats. */
export function createCelEnvironment(): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
  });
  environment.registerVariable('self', 'dyn').registerVariable('oldSelf', 'dyn');
  for (const [signature, handler] of functions) environment.registerFunction(signature, handler);
  return environment;
}

type Handler = (...values: never[]) => unknown;

const functions: readonly (readonly [signature: string, handler: Handler])[] = [
  ['list.sum(): dyn', (list: readonly Summand[]) => list.reduce(add, 0n)],
  ['list.min(): dyn', (list: readonly Ordered[]) => extreme(list, (a, b) => a < b)],
  ['list.max(): dyn', (list: readonly Ordered[]) => extreme(list, (a, b) => a > b)],
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

function extreme(list: readonly Ordered[], isBetter: (a: Ordered, b: Ordered) => boolean): Ordered {
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
