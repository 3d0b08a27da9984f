const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity (`500m`, `1Gi`, `2e3`) as a number; undefined when it is none. */
export function parseQuantity(text: string): number | undefined {
  const match =
    /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d{1,3})|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?$/.exec(
      text,
    );
  if (match === null) return undefined;
  const [, digits = '', exponent, suffix = ''] = match;
  const factor = factors[suffix] ?? 1;
  // Dividing keeps 100m at exactly 0.1, where multiplying by 0.001 would not.
  const amount = Number(exponent === undefined ? digits : `${digits}e${exponent}`);
  return factor < 1 ? amount / Math.round(1 / factor) : amount * factor;
}
