import type { OperatorPlan } from '../../compile/index.ts';
import { type Gvk, gvkKey } from '../../util/gvk.ts';
import type { Prepared } from './prepare-definition.ts';

/** Kinds of objects that older revisions make, or that are on record, and the revision does not. */
export function formerKindsOf(prepared: Prepared, older: readonly Prepared[]): readonly Gvk[] {
  const own = new Set(childKindsOf(prepared.plan).map(gvkKey));
  const former = [
    ...prepared.formerKinds,
    ...older.flatMap(({ plan, formerKinds }) => [...childKindsOf(plan), ...formerKinds]),
  ].filter((gvk) => !own.has(gvkKey(gvk)));
  return [...new Map(former.map((gvk) => [gvkKey(gvk), gvk])).values()];
}

function childKindsOf({ children, onDelete }: OperatorPlan): readonly Gvk[] {
  return [...children, ...(onDelete?.children ?? [])].map(({ gvk }) => gvk);
}
