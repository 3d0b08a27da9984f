import { preservedVersionOf } from '#conversion';
import { preservedPrefix } from '#util/stored-names.ts';

/**
 * A merge patch of annotations that removes values that no version can need any more: those of removed versions, and without rules those of every
 * version, for nothing reads them then. Undefined: there are none. Pure.
 */
export function withoutUnusedPreserved(
  annotations: Readonly<Record<string, string>> | undefined,
  { removed, hasRules }: { readonly removed: readonly string[]; readonly hasRules: boolean },
): Readonly<Record<string, null>> | undefined {
  const unused = Object.entries(annotations ?? {}).flatMap(([key, text]) => {
    if (!key.startsWith(preservedPrefix)) return [];
    // A text that cannot be read may be that of another release, for a version that is still there.
    const version = preservedVersionOf(text);
    const isUnused = !hasRules || (version !== undefined && removed.includes(version));
    return isUnused ? [[key, null] as const] : [];
  });
  return unused.length === 0 ? undefined : Object.fromEntries(unused);
}
