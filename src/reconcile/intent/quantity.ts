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

/** Beyond this the server refuses or clamps; the numbers here would only become huge. */
const largestExponent = 60;
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|[eE]([+-]?\d+)|([numkMGTPE]?))$/;

/**
 * A Kubernetes quantity (`500m`, `1.5Gi`, `1e3`, a number) in billionths, its absolute value rounded up as the server does.
 * Undefined for what is none.
 */
export function quantity(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const match = pattern.exec(String(value));
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', binary, scientific, decimal = ''] = match;
  const digits = whole + fraction;
  if (digits === '') return undefined;
  const suffix = scientific === undefined ? decimalExponent[decimal] : Number(scientific);
  const exponent = 9 - fraction.length + (suffix ?? 0);
  if (Math.abs(exponent) > largestExponent) return undefined;
  const mantissa = BigInt(digits) << (binaryShift[binary ?? ''] ?? 0n);
  const size = scaledUp(mantissa, exponent);
  return sign === '-' ? -size : size;
}

/** Rounded up to thousandths, as the server keeps the quantities of resource lists. */
export function roundedToThousandths(billionths: bigint): bigint {
  if (billionths < 0n) return -roundedToThousandths(-billionths);
  return ((billionths + 999_999n) / 1_000_000n) * 1_000_000n;
}

function scaledUp(mantissa: bigint, exponent: number): bigint {
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (mantissa + divisor - 1n) / divisor;
}
