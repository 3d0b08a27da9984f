import type { ChildPlan, OperatorPlan, PatchPlan } from '#compile';
import { kindsOf } from '#definition';
import type { Gvk } from '#util/gvk.ts';
import { isRecordedInOwnNamespace, recordedReads } from './read-rights.ts';
import { type RequiredRight, watchVerbs } from './required-right.ts';

/** Children, including those of `onDelete`. */
export function childrenOf({ children, onDelete }: OperatorPlan): readonly ChildPlan[] {
  return [...children, ...(onDelete?.children ?? [])];
}

/** On the objects of children. */
export function childRights(children: readonly ChildPlan[]): readonly RequiredRight[] {
  return children.flatMap((child): readonly RequiredRight[] => {
    const reason = `its children "${child.id}"`;
    return kindsOf(child).flatMap((gvk): readonly RequiredRight[] => {
      const about = { gvk, purpose: 'children', reason } as const;
      return [
        { ...about, verbs: watchVerbs, isNamespaced: false },
        { ...about, verbs: ['get', 'create', 'patch', 'delete'] },
      ];
    });
  });
}

/** On the namespace of a resource that is being deleted. */
export function onDeleteRights({
  onDelete,
  reporting,
  scope,
}: OperatorPlan): readonly RequiredRight[] {
  const isPatching = reporting?.patches.some(({ atDeletion }) => atDeletion) === true;
  if ((onDelete === undefined && !isPatching) || scope === 'Cluster') return [];
  const what = onDelete === undefined ? 'patches with "at: Deletion"' : '"onDelete"';
  const reason = `whether the namespace is terminating, for ${what}`;
  const gvk = { group: '', version: 'v1', kind: 'Namespace' };
  return [{ gvk, verbs: ['get'], purpose: 'namespace-going', reason, isNamespaced: false }];
}

/** On the targets of patches. */
export function patchRights(plan: OperatorPlan): readonly RequiredRight[] {
  return (plan.reporting?.patches ?? []).flatMap((patch) => {
    const { id, create, replaces, isRestore, setsStatus, deletes } = patch;
    const purpose = 'patch-targets';
    const verbs = setsStatus
      ? ['get']
      : deletes
        ? ['get', 'delete']
        : ['get', ...(create ? ['create'] : []), ...(replaces ? ['update'] : []), 'patch'];
    return targetKinds(plan, patch).flatMap((gvk): readonly RequiredRight[] => {
      const about = { gvk, purpose, reason: `its patch "${id}"` } as const;
      // A recorded object may be in any namespace of its read.
      const isNamespaced = !isRestore || isRecordedInOwnNamespace(plan);
      return [
        { ...about, verbs: watchVerbs, isNamespaced: false },
        { ...about, verbs, isNamespaced },
        ...(setsStatus ? [{ ...about, subresource: '/status', verbs: ['patch'] }] : []),
      ];
    });
  });
}

/** A computed kind is one of those that are recorded. */
function targetKinds(plan: OperatorPlan, { gvk, isRestore }: PatchPlan): readonly Gvk[] {
  if (gvk !== undefined) return [gvk];
  return isRestore ? recordedReads(plan).map((read) => read.gvk) : [];
}
