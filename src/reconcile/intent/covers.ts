import { anyType, type SchemaType } from '../../compile/index.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { compareValues } from './compare.ts';
import type { Difference } from './difference.ts';

/**
 * Returns whether an apply of the intent would change nothing. Stops at the first difference.
 * A wrong `false` costs one unnecessary apply; a wrong `true` would hide drift. Unknown cases therefore count as different.
 * It does not detect fields that were removed from the intent; `pathHash` does.
 * @param intent Prepared, with `apiVersion`, `kind` and `metadata`.
 * @param type The kind's schema; undefined: everything is compared as written.
 */
export function covers(
  intent: KubeObject,
  live: KubeObject,
  type: SchemaType | undefined,
): boolean {
  return compareValues(intent, live, type ?? anyType, false, undefined);
}

/** Returns all differences; none exactly if {@link covers} is true. They contain values, also of Secrets: never log them. */
export function differences(
  intent: KubeObject,
  live: KubeObject,
  type: SchemaType | undefined,
): readonly Difference[] {
  const found: Difference[] = [];
  compareValues(intent, live, type ?? anyType, false, { path: [], found });
  return found;
}

/**
 * A digest of differences that an apply does not remove, because the server changes the value in a way that no rule covers.
 * Equal differences have equal digests. Keep it in memory only: it is derived from values.
 */
export function differenceDigest(found: readonly Difference[]): string {
  return sha256Hex(canonicalJson(found));
}
