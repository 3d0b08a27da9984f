import type { SchemaType, StructField, StructType } from '../../compile/index.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isEmptyCollection } from './fields.ts';

/** Go writes an empty list or map as nothing; an empty struct means something (`emptyDir: {}`). */
export function isNothing(want: unknown, type: SchemaType): boolean {
  const isCollection = type.kind === 'list' || type.kind === 'map' || type.kind === 'branch';
  return type.builtIn && isCollection && isEmptyCollection(want);
}

/** Is what a live object of a built-in type has beyond the intent as good as nothing? */
export function isNothingThere(have: unknown, field: StructField | undefined): boolean {
  return have === null || (field?.type.kind !== 'struct' && isEmptyCollection(have));
}

/** The live list without the items that admission appended and the intent does not have. */
export function withoutInjected(
  key: string,
  want: unknown,
  have: unknown,
  type: StructType,
): unknown {
  const injected = type.injected[key];
  if (injected === undefined || !Array.isArray(have) || !Array.isArray(want)) return have;
  return have.filter(
    (item) =>
      !injected.some((added) => deepEqual(added, item)) ||
      want.some((ours) => deepEqual(ours, item)),
  );
}
