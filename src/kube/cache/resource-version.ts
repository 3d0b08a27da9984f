const decimal = /^(?:0|[1-9]\d*)$/;

/**
 * The order of two resourceVersions of one kind: negative, zero or positive, as a comparator gives. Versions are decimal
 * strings of any length (KEP-5504), so a longer one is larger and equally long ones compare lexically.
 * Undefined when either is not a decimal number: then nothing is known but equality.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Is `a` certainly later than `b`? */
export function isAfter(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 0) > 0;
}

/** Must `a` be taken as news after `b`? True also for versions without an order: a stream brings those in its own order. */
export function isNews(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 1) > 0;
}

/** Can this version be compared with others at all? */
export function isOrdered(version: string): boolean {
  return decimal.test(version);
}
