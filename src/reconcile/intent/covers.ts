import { anyType, type SchemaType } from '../../compile/index.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { compareValues } from './compare.ts';
import type { Difference } from './difference.ts';

/**
 * Would an apply of the intent change nothing that anybody could see? Stops at the first difference.
 * A wrong "no" costs one idle apply, a wrong "yes" would hide drift: what the tables do not know counts as different.
 * Fields that left the intent are not seen here, see `pathHash`.
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

/** All differences; none exactly when {@link covers}. They hold values, so of Secrets too: never log them. */
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
 * What is remembered of differences that an apply does not remove: what the server makes of an intent in a way that no rule knows.
 * Equal differences give equal digests. For memory only: it is made of values.
 */
export function differenceDigest(found: readonly Difference[]): string {
  return sha256Hex(canonicalJson(found));
}
