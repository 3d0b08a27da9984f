import type { KubeObject } from '../kube-object.ts';
import { ownerUidLabel } from '../stored-names.ts';
import { type ChildFailure, failedChildren } from './child-failure.ts';

/** An object with the objects that it owns, and the failed children of a resource that do not exist. */
export interface TreeNode {
  /** Without UID: the object does not exist. */
  readonly object: KubeObject;
  /** What the resource reports of this child if it failed. @default undefined: it did not */
  readonly failure?: ChildFailure;
  readonly children: readonly TreeNode[];
}

/**
 * The objects below each root, by controller references. Sorted by kind, namespace and name. A root that belongs to another root is
 * shown below that only. Objects that belong to no root are left out. Every object is shown once, also with circular references.
 */
export function buildTree(
  roots: readonly KubeObject[],
  objects: readonly KubeObject[],
): readonly TreeNode[] {
  const isBelowRoot = createDescendantCheck(roots, objects);
  const byOwner = Map.groupBy(objects, ownerUid);
  const placed = new Set<string>();
  function place(object: KubeObject): TreeNode {
    const uid = object.metadata.uid ?? '';
    placed.add(uid);
    const below = (byOwner.get(uid) ?? []).filter((child) => !placed.has(child.metadata.uid ?? ''));
    const failures = new Map(
      failedChildren(object).map((failure) => [keyOf(failure.object), failure]),
    );
    const present = new Set(below.map(keyOf));
    const children = [
      ...below.map((child) => withFailure(place(child), failures.get(keyOf(child)))),
      ...[...failures]
        .filter(([key]) => !present.has(key))
        .map(([, failure]) => ({ object: failure.object, failure, children: [] })),
    ];
    return { object, children: children.sort((a, b) => compareObjects(a.object, b.object)) };
  }
  return roots
    .filter((root) => !isBelowRoot(root))
    .sort(compareObjects)
    .map(place);
}

function withFailure(node: TreeNode, failure: ChildFailure | undefined): TreeNode {
  return failure === undefined ? node : { ...node, failure };
}

function keyOf({ apiVersion, kind, metadata: { namespace = '', name } }: KubeObject): string {
  return [apiVersion, kind, namespace, name].join('/');
}

/** Whether one of the roots owns an object, directly or through other objects. */
function createDescendantCheck(roots: readonly KubeObject[], objects: readonly KubeObject[]) {
  const owners = new Map(
    [...objects, ...roots].map((object) => [object.metadata.uid ?? '', ownerUid(object)]),
  );
  const tops = new Set(roots.map(({ metadata }) => metadata.uid));
  return (object: KubeObject): boolean => {
    const seen = new Set<string>();
    for (let uid = ownerUid(object); uid !== '' && !seen.has(uid); uid = owners.get(uid) ?? '') {
      if (tops.has(uid) && uid !== object.metadata.uid) return true;
      seen.add(uid);
    }
    return false;
  };
}

/** Empty: no owner. */
function ownerUid({ metadata }: KubeObject): string {
  const owners = metadata.ownerReferences ?? [];
  const owner = owners.find(({ controller }) => controller === true) ?? owners[0];
  return owner?.uid ?? metadata.labels?.[ownerUidLabel] ?? '';
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
