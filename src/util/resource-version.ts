const decimal = /^(?:0|[1-9]\d*)$/;

/**
 * Compares two resourceVersions of one kind, as a comparator. Versions are decimal strings of any length (KEP-5504).
 * Undefined if one is not decimal: then only equality is known.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!isOrdered(a) || !isOrdered(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Whether this version can be compared with others. */
export function isOrdered(version: string): boolean {
  return decimal.test(version);
}

/** Whether `a` is certainly later than `b`. */
export function isNewer(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 0) > 0;
}

/** Whether `a` may be later than `b`. True for versions without an order: streams deliver those in order. */
export function mayBeNewer(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 1) > 0;
}
