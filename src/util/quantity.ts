/** An exact Kubernetes quantity: `mantissa` times ten to the power of `exponent`. */
export interface Quantity {
  readonly mantissa: bigint;
  readonly exponent: number;
}

const binaryShift: Readonly<Record<string, bigint>> = {
  Ki: 10n,
  Mi: 20n,
  Gi: 30n,
  Ti: 40n,
  Pi: 50n,
  Ei: 60n,
};
const decimalExponent: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/** The server rejects or clamps larger exponents. */
const largestExponent = 60;
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|[eE]([+-]?\d+)|([numkMGTPE]?))$/;

/** Parses a quantity as the server does (`500m`, `1.5Gi`, `1e3`, a number). Undefined for an invalid one. */
export function parseQuantity(value: unknown): Quantity | undefined {
  if (!['string', 'number', 'bigint'].includes(typeof value)) return undefined;
  const match = pattern.exec(String(value));
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', binary = '', scientific, decimal = ''] = match;
  const digits = whole + fraction;
  if (digits === '') return undefined;
  const size = BigInt(digits) << (binaryShift[binary] ?? 0n);
  const power = scientific === undefined ? (decimalExponent[decimal] ?? 0) : Number(scientific);
  return { mantissa: sign === '-' ? -size : size, exponent: power - fraction.length };
}

/** The nearest number; undefined for a quantity beyond the range of numbers. */
export function quantityNumber({ mantissa, exponent }: Quantity): number | undefined {
  // Parsed from text, 100m is exactly 0.1. Multiplying by 0.001 is not exact.
  const number = Number(`${mantissa}e${exponent}`);
  return Number.isFinite(number) ? number : undefined;
}

/** A quantity in billionths, its absolute value rounded up as the server does. Undefined far beyond the server's range. */
export function quantityBillionths({ mantissa, exponent }: Quantity): bigint | undefined {
  const power = exponent + 9;
  if (Math.abs(power) > largestExponent) return undefined;
  if (power >= 0) return mantissa * 10n ** BigInt(power);
  return dividedUp(mantissa, 10n ** BigInt(-power));
}

/** Rounds up to thousandths, as the server does in resource lists. */
export function roundedToThousandths(billionths: bigint): bigint {
  return dividedUp(billionths, 1_000_000n) * 1_000_000n;
}

/** Division rounded away from zero. */
function dividedUp(dividend: bigint, divisor: bigint): bigint {
  if (dividend < 0n) return -dividedUp(-dividend, divisor);
  return (dividend + divisor - 1n) / divisor;
}
