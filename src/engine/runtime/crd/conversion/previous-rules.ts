import { type ConversionRules, digestOf, readRules } from '#conversion';
import { canonicalJson } from '#util/canonical-json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';

/** Maximum number of previous tables of rules in a CRD, besides the ones that worked. */
const maxPrevious = 4;
/** Maximum length of these tables together; the annotations of an object have 256 KiB. */
const maxLength = 64 * 1024;

/**
 * The earlier rules that a CRD keeps, newest first. API servers ask for them until they have read the change. Those that worked return if the
 * current ones fail. Pure.
 * @param working the rules that worked. Undefined: they are the current ones, or there are none
 */
export function previousRules(
  live: KubeObject | undefined,
  current: ConversionRules,
  working?: ConversionRules,
): readonly ConversionRules[] {
  const stored = readRules(live?.metadata.annotations?.[conversionsAnnotation] ?? '');
  const digest = digestOf(current);
  const workingDigest = working && digestOf(working);
  let count = 0;
  let length = 0;
  return [...(stored?.byDigest ?? [])].flatMap(([each, rules]) => {
    if (each === digest) return [];
    if (each === workingDigest) return [rules];
    count += 1;
    length += canonicalJson(rules).length;
    return count <= maxPrevious && length <= maxLength ? [rules] : [];
  });
}
