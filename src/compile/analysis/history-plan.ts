import { gvkOf } from '../../util/gvk.ts';
import { isSecret } from '../compiled-templates.ts';
import type { HistoryPlan } from '../operator-plan.ts';
import type { Owner } from './child-plans.ts';

/** How a definition keeps versions; undefined: it keeps none. */
export function createHistoryPlan(owner: Owner, isRead: boolean): HistoryPlan | undefined {
  const kept = owner.definition.reads.filter(({ history }) => history !== undefined);
  if (kept.length === 0) return undefined;
  return Object.freeze({
    isRead,
    recordKinds: Object.freeze([
      ...(kept.every(({ gvk }) => isSecret(gvk)) ? [] : [gvkOf('apps/v1', 'ControllerRevision')]),
      ...(kept.some(({ gvk }) => isSecret(gvk)) ? [gvkOf('v1', 'Secret')] : []),
    ]),
    isDetached: hasDetachedHistory(owner),
  });
}

/**
 * Whether versions may be in another namespace than the resource: they are in the namespace of their object. A
 * cluster-scoped resource is a valid owner everywhere.
 */
export function hasDetachedHistory({ definition, scope, schemas }: Owner): boolean {
  if (scope === 'Cluster') return false;
  return definition.reads.some(
    ({ history, from, gvk }) =>
      history !== undefined && (from.kind !== 'own' || schemas?.isNamespaced(gvk) !== true),
  );
}
