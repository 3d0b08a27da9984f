import type { OperatorPlan } from '../../compile/index.ts';
import type { Cluster } from '../../kube/roles.ts';
import { membershipOf, settled } from '../../reconcile/index.ts';
import { revisionOf } from './marks.ts';

/** What resources report, and a use of their watch, so that who works next need not list them again. */
export interface ReportedRevisions {
  readonly revisions: ReadonlySet<string>;
  release(): void;
}

/**
 * The revisions that resources say they were last worked on with. Looks once, through the watch that the definition has anyway.
 * @throws what the signal aborts with.
 */
export async function reportedRevisions(
  plan: OperatorPlan,
  cluster: Pick<Cluster, 'acquire'>,
  signal: AbortSignal,
): Promise<ReportedRevisions> {
  const { query, has } = membershipOf(plan);
  const informer = cluster.acquire(query);
  try {
    await settled(informer, signal);
  } catch (error) {
    informer.release();
    throw error;
  }
  const revisions = new Set<string>();
  for (const { object } of informer.list()) {
    const revision = has(object) ? revisionOf(object) : undefined;
    if (revision !== undefined) revisions.add(revision);
  }
  return { revisions, release: () => informer.release() };
}
