import type { OperatorPlan } from '../../compile/index.ts';
import type { Cluster } from '../../kube/roles.ts';
import { membershipOf, settled } from '../../reconcile/index.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import { conditionsOf, type KubeObject } from '../../util/kube-object.ts';

/** Revisions that resources report. Holds the informer, so that its next user need not list again. */
export interface ReportedRevisions {
  readonly revisions: ReadonlySet<string>;
  release(): void;
}

/**
 * Collects the revisions that resources report, through the definition's informer.
 * @throws the signal's reason
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

const reconcileAt = 'homeostat.dev/reconcile-at';

/** Identity and content of a resource, to detect whether it was recreated or edited. */
export interface ResourceSnapshot {
  readonly uid: string | undefined;
  readonly generation: unknown;
  readonly reconcileAt: string | undefined;
  /** Everything but metadata and status, for kinds without `generation`. */
  readonly content: Readonly<Record<string, unknown>> | undefined;
}

export function snapshotOf(resource: KubeObject): ResourceSnapshot {
  const { uid, generation, annotations } = resource.metadata;
  return {
    uid,
    generation,
    reconcileAt: annotations?.[reconcileAt],
    content: generation === undefined ? contentOf(resource) : undefined,
  };
}

/**
 * Whether the resource was recreated, edited or asked to reconcile since the snapshot. A deletion is not an edit, although it increments
 * `generation`.
 */
export function isEdited(snapshot: ResourceSnapshot, resource: KubeObject): boolean {
  const now = snapshotOf(resource);
  if (now.uid !== snapshot.uid) return true;
  if (resource.metadata.deletionTimestamp !== undefined) return false;
  return (
    now.generation !== snapshot.generation ||
    now.reconcileAt !== snapshot.reconcileAt ||
    !deepEqual(now.content, snapshot.content)
  );
}

/** The revision that the resource reports. Undefined: none. */
export function revisionOf({ status }: KubeObject): string | undefined {
  const { definitionRevision } = isJsonObject(status) ? status : {};
  return typeof definitionRevision === 'string' ? definitionRevision : undefined;
}

/** Whether the resource reports `DeletionsHeld`. */
export function holdsDeletions(resource: KubeObject): boolean {
  return conditionsOf(resource).some(
    ({ type, reason }) => type === 'Ready' && reason === 'DeletionsHeld',
  );
}

function contentOf({ metadata: _, status: __, ...content }: KubeObject) {
  return content;
}
