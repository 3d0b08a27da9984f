import { deepEqual } from '../../util/deep-equal.ts';
import { differs, type Trail } from './difference.ts';

/** Sets: every item of ours is there; order and further items do not matter. */
export function compareSets(
  want: readonly unknown[],
  have: readonly unknown[],
  trail: Trail | undefined,
): boolean {
  let equal = true;
  for (const item of want) {
    if (have.includes(item) || have.some((other) => deepEqual(item, other))) continue;
    trail?.path.push({ item });
    differs(item, undefined, trail);
    trail?.path.pop();
    if (trail === undefined) return false;
    equal = false;
  }
  return equal;
}
