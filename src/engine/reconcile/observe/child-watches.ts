import { kindsOf } from '#definition';
import { gvkKey } from '#util/gvk.ts';
import { isReachable } from '../pass/other-clusters.ts';
import type { Pass } from '../pass/pass.ts';
import type { ChildWatch } from '../watch/child-watch.ts';
import { isElsewhere, type WhereOfChild } from '../where.ts';

/** The watches that have the objects of a child: one, or one in each other cluster that can be reached. */
export function watchesOf(pass: Pass, plan: WhereOfChild): readonly ChildWatch[] {
  const { watches } = pass.context;
  const kinds = kindsOf(plan);
  if (!isElsewhere(plan)) return kinds.map((gvk) => watches.children(gvk));
  return [...watches.childrenOf(pass.key)].filter(
    ({ gvk }) =>
      gvk.cluster !== undefined &&
      kinds.some((kind) => gvkKey(kind) === gvkKey(gvk)) &&
      isReachable(pass, gvk.cluster),
  );
}
