import type { Environment } from '@marcbachmann/cel-js';
import { parseQuantity, quantityBillionths } from '#util/quantity.ts';

const one = 1_000_000_000n;
const maxInteger = 2n ** 63n - 1n;

/** A quantity of a rule. */
class CelQuantity {
  readonly billionths: bigint;
  /** False for one that is written with a fraction: for a server `2000m` is no integer. */
  readonly isWhole: boolean;

  constructor(billionths: bigint, isWhole: boolean) {
    this.billionths = billionths;
    this.isWhole = isWhole;
  }
}

/** Registers the quantities of Kubernetes' rules: `quantity("1Gi").isGreaterThan(quantity("1G"))`. */
export function registerQuantities(environment: Environment): void {
  environment.registerType('Quantity', CelQuantity);
  for (const [signature, handler] of functions) environment.registerFunction(signature, handler);
  environment.registerOperator(
    'Quantity == Quantity',
    (a: CelQuantity, b: CelQuantity) => order(a, b) === 0n,
  );
}

type Handler = (...values: never[]) => unknown;

const functions: readonly (readonly [signature: string, handler: Handler])[] = [
  ['quantity(string): Quantity', quantityOf],
  ['isQuantity(string): bool', (text: string) => readQuantity(text) !== undefined],
  ['sign(Quantity): int', (a: CelQuantity) => order(a, ofInteger(0n))],
  ['Quantity.compareTo(Quantity): int', order],
  ['Quantity.isGreaterThan(Quantity): bool', (a: CelQuantity, b: CelQuantity) => order(a, b) > 0n],
  ['Quantity.isLessThan(Quantity): bool', (a: CelQuantity, b: CelQuantity) => order(a, b) < 0n],
  ['Quantity.isInteger(): bool', isInteger],
  ['Quantity.asInteger(): int', asInteger],
  ['Quantity.asApproximateFloat(): double', (a: CelQuantity) => Number(a.billionths) / Number(one)],
  ['Quantity.add(Quantity): Quantity', add],
  ['Quantity.add(int): Quantity', (a: CelQuantity, b: bigint) => add(a, ofInteger(b))],
  ['Quantity.sub(Quantity): Quantity', subtract],
  ['Quantity.sub(int): Quantity', (a: CelQuantity, b: bigint) => subtract(a, ofInteger(b))],
];

function readQuantity(text: string): CelQuantity | undefined {
  const quantity = parseQuantity(text);
  if (quantity === undefined) return undefined;
  const billionths = quantityBillionths(quantity);
  return billionths === undefined ? undefined : new CelQuantity(billionths, quantity.exponent >= 0);
}

function quantityOf(text: string): CelQuantity {
  const found = readQuantity(text);
  if (found !== undefined) return found;
  throw new Error(
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
}

function ofInteger(value: bigint): CelQuantity {
  return new CelQuantity(value * one, true);
}

function isInteger({ billionths, isWhole }: CelQuantity): boolean {
  return isWhole && billionths / one <= maxInteger && billionths / one >= -maxInteger;
}

function asInteger(value: CelQuantity): bigint {
  if (!isInteger(value)) throw new Error('cannot convert value to integer');
  return value.billionths / one;
}

function add(a: CelQuantity, b: CelQuantity): CelQuantity {
  return new CelQuantity(a.billionths + b.billionths, a.isWhole && b.isWhole);
}

function subtract(a: CelQuantity, { billionths, isWhole }: CelQuantity): CelQuantity {
  return add(a, new CelQuantity(-billionths, isWhole));
}

/** 1, 0 or -1. */
function order(a: CelQuantity, b: CelQuantity): bigint {
  if (a.billionths === b.billionths) return 0n;
  return a.billionths > b.billionths ? 1n : -1n;
}
