import { parseQuantity, quantityBillionths } from '#util/quantity.ts';

const binaryUnits = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimalUnits = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const billion = 1_000_000_000n;

/** The server's canonical form of a quantity: `1000m` -> `1`, `1.5Gi` -> `1536Mi`. Undefined for an invalid quantity. */
export function canonicalQuantity(value: string | number): string | undefined {
  const text = String(value);
  const quantity = parseQuantity(text);
  const billionths = quantity && quantityBillionths(quantity);
  if (billionths === undefined) return undefined;
  const isBinary = /[KMGTPE]i$/.test(text);
  const isLarge = billionths >= 1024n * billion || billionths <= -1024n * billion;
  if (isBinary && isLarge) return binaryText(billionths);
  const canonical = decimalText(billionths, /[eE][+-]?\d+$/.test(text));
  // Leading zeros stay where the rest is canonical.
  return text.replace(/^0+(?=[1-9])/, '') === canonical ? text : canonical;
}

function binaryText(billionths: bigint): string {
  let whole = billionths / billion;
  if (billionths % billion > 0n) whole += 1n;
  let unit = 0;
  while (whole % 1024n === 0n && unit < binaryUnits.length - 1) {
    whole /= 1024n;
    unit++;
  }
  return `${whole}${binaryUnits[unit]}`;
}

function decimalText(billionths: bigint, hasExponent: boolean): string {
  if (billionths === 0n) return '0';
  let rest = billionths;
  let unit = 0;
  while (rest % 1000n === 0n && unit < decimalUnits.length - 1) {
    rest /= 1000n;
    unit++;
  }
  const exponent = (unit - 3) * 3;
  if (hasExponent) return exponent === 0 ? String(rest) : `${rest}e${exponent}`;
  return `${rest}${decimalUnits[unit]}`;
}
