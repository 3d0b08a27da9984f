const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses `30s`, `1h30m`, `5ms`, `0` into milliseconds; undefined for anything else. */
export function parseDurationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (unitMs[unit] ?? 0);
  }
  return total;
}
