import { managedByLabel } from '#reconcile';
import { isJsonObject } from '#util/json.ts';
import { isHomeostatKey, type KubeObject } from '#util/kube-object.ts';
import type { FieldChange } from './field-changes.ts';

/** Metadata that every write changes, or that is internal to Homeostat. */
const serverMetadata: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
]);

/** The content that a user compares: without server-set metadata, the status, and labels and annotations of Homeostat. Pure. */
export function contentOf(object: KubeObject): Readonly<Record<string, unknown>> {
  const { metadata, status: _, ...content } = object as KubeObject & { readonly status?: unknown };
  const kept = Object.entries(metadata)
    .filter(([name]) => !serverMetadata.has(name))
    .map(([name, value]) => [name, name === 'finalizers' ? value : withoutOwnKeys(value)])
    .filter(([, value]) => value !== undefined);
  return { ...content, metadata: Object.fromEntries(kept) };
}

/** Labels or annotations without those that Homeostat adds to every object. Undefined: none is left. Pure. */
export function withoutOwnKeys(map: unknown): unknown {
  if (!isJsonObject(map)) return map;
  const kept = Object.entries(map).filter(([name]) => !isOwn(name));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function isOwn(name: string): boolean {
  return isHomeostatKey(name) || name === managedByLabel;
}

/** The content of a new object without what its title has. Pure. */
export function newContentOf(object: KubeObject): Readonly<Record<string, unknown>> {
  const { apiVersion: _, kind: __, metadata, ...content } = contentOf(object);
  const { name: ___, namespace: ____, ...rest } = metadata as KubeObject['metadata'];
  return { ...(Object.keys(rest).length > 0 && { metadata: rest }), ...content };
}

/** In place of a value that must not be shown. */
export const masked = '(sensitive)';

/** Masks all values below the fields that may be secret. `isSecret`: all fields. Pure. */
export function maskChanges(
  changes: readonly FieldChange[],
  { kind, isSecret }: { readonly kind: string; readonly isSecret: boolean },
): readonly FieldChange[] {
  return changes.map((change) => {
    const { path } = change;
    const isHidden = isSecret || (kind === 'Secret' && /^(?:data|stringData)\b/.test(path));
    if (!isHidden) return change;
    return {
      path: isSecret ? path.replace(/\[.*$/, '') : path,
      ...('before' in change && { before: masked }),
      ...('after' in change && { after: masked }),
    };
  });
}
