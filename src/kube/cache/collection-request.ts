import type { PathTarget } from '../api/paths.ts';
import type { Flow, InformerQuery } from '../roles.ts';

/** Lists and watches are asked for in this name. */
export const informerFlow: Flow = { name: 'informer', priority: 'world' };

/** Where a query's collection is. */
export function pathTargetOf({ namespace }: InformerQuery): PathTarget {
  return namespace === undefined ? {} : { namespace };
}

/** A query's selectors as URL parameters. */
export function selectorParameters(query: InformerQuery): Readonly<Record<string, string>> {
  const { labelSelector, fieldSelector } = query;
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
