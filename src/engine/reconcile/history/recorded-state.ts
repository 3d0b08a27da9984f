import { deepEqual } from '#util/deep-equal.ts';
import { isHomeostatKey, type KubeObject, type ObjectMeta } from '#util/kube-object.ts';
import { valueAt } from '../watch/object-change.ts';

/**
 * What is recorded of an object: everything but its status and what the server writes. Labels and annotations of
 * Homeostat are left out: a restored object is not a child.
 */
export function recordedState({ status: _, ...object }: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata;
  const metadata: ObjectMeta = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...withoutOwnKeys('labels', labels),
    ...withoutOwnKeys('annotations', annotations),
  };
  return { ...object, metadata };
}

function withoutOwnKeys(
  field: 'labels' | 'annotations',
  map: Readonly<Record<string, string>> = {},
): Pick<ObjectMeta, 'labels' | 'annotations'> {
  const kept = Object.entries(map).filter(([key]) => !isHomeostatKey(key));
  return kept.length === 0 ? {} : { [field]: Object.fromEntries(kept) };
}

/** Whether two states differ in a field whose change creates a version. `onChange`: undefined: all but metadata. */
export function isSameVersion(
  before: KubeObject,
  after: KubeObject,
  onChange: readonly string[] | undefined,
): boolean {
  if (onChange === undefined) return isSameContent(before, after);
  return onChange.every((path) => {
    const steps = path.split('.');
    return deepEqual(valueAt(before, steps), valueAt(after, steps));
  });
}

function isSameContent(before: KubeObject, after: KubeObject): boolean {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  fields.delete('metadata');
  for (const field of fields) if (!deepEqual(before[field], after[field])) return false;
  return true;
}

/** Whether two states are equal in all that is recorded. */
export function isSameState(before: KubeObject, after: KubeObject): boolean {
  return deepEqual(before, after);
}
