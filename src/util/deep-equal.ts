import equal from 'fast-deep-equal';

/** Structural equality of plain JSON values. Objects with other prototypes are never equal to plain ones. */
export function deepEqual(a: unknown, b: unknown): boolean {
  return equal(a, b);
}
