import type { KubeObject } from '../../util/kube-object.ts';

/** An object and what belongs to it. */
export interface TreeNode {
  readonly object: KubeObject;
  readonly children: readonly TreeNode[];
}

/** Of children that cannot have an owner reference (other namespaces, other scopes) a label tells whose they are. */
const ownerLabel = 'homeostat.dev/owner-uid';

/**
 * The objects below each root, by controller references. Sorted by kind, namespace and name. A root that belongs to another object is
 * shown below it; what belongs to nobody here is left out; nothing is there twice, whatever refers to whatever.
 */
export function buildTree(
  roots: readonly KubeObject[],
  objects: readonly KubeObject[],
): readonly TreeNode[] {
  const uids = new Set([...roots, ...objects].map(({ metadata }) => metadata.uid));
  const byOwner = Map.groupBy(objects, ownerUid);
  const placed = new Set<string>();
  function place(object: KubeObject): TreeNode {
    const uid = object.metadata.uid ?? '';
    placed.add(uid);
    const below = (byOwner.get(uid) ?? []).filter((child) => !placed.has(child.metadata.uid ?? ''));
    return { object, children: below.sort(compareObjects).map(place) };
  }
  return roots
    .filter((root) => !uids.has(ownerUid(root)))
    .sort(compareObjects)
    .map(place);
}

/** Empty = nobody's. */
function ownerUid({ metadata }: KubeObject): string {
  const owners = metadata.ownerReferences ?? [];
  const owner = owners.find(({ controller }) => controller === true) ?? owners[0];
  return owner?.uid ?? metadata.labels?.[ownerLabel] ?? '';
}

function compareObjects(a: KubeObject, b: KubeObject): number {
  return (
    compareTexts(a.kind, b.kind) ||
    compareTexts(a.metadata.namespace ?? '', b.metadata.namespace ?? '') ||
    compareTexts(a.metadata.name, b.metadata.name)
  );
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
