import { type Informer, KubeError } from '../../kube/roles.ts';
import { type Problem, problemOfRequest, problemOfWaiting } from '../failure.ts';
import { isRecord, revisionKind, secretKind } from '../history/record.ts';
import { refOfStored } from '../identity.ts';
import { historyAnnotationOf, recordOfLabel } from '../names.ts';
import { isTerminating } from '../ownership-claims.ts';
import { clusterWrite, type Pass } from '../pass/pass.ts';
import { publicContent } from '../secrecy.ts';
import { listOf, settledSoon } from '../watch/informer-waits.ts';

/** How long the deletion waits for the list of records before it is tried again. */
const listLimitMs = 10_000;
/** Records that are deleted at the same time. */
const concurrency = 10;

/**
 * Deletes the versions in other namespaces of a resource that is being deleted; the garbage collector deletes those in its own. Needs no
 * plan: an annotation names the kinds. Versions of a resource that stays are kept.
 * @returns why some may remain
 */
export async function removeRecords(pass: Pass): Promise<readonly Problem[]> {
  const { context, resource, uid, signal } = pass;
  const kinds = resource.metadata.annotations?.[historyAnnotationOf(context.plan.name)] ?? '';
  if (kinds === '' || !isTerminating(resource)) return [];
  const { cluster, clock } = context;
  const informers = [revisionKind, secretKind]
    .filter(({ kind }) => kinds.split(',').includes(kind))
    .map((gvk) => cluster.acquire({ gvk, labelSelector: `${recordOfLabel}=${uid}` }));
  try {
    await settledSoon(informers, { clock, timeoutMs: listLimitMs, signal });
    const problems = await Promise.all(informers.map((informer) => removeFrom(pass, informer)));
    return problems.flat();
  } finally {
    for (const informer of informers) informer.release();
  }
}

async function removeFrom(pass: Pass, informer: Informer): Promise<readonly Problem[]> {
  const { context, namespace, signal } = pass;
  const { state } = informer;
  if (state.kind === 'waiting') return [{ ...problemOfWaiting([listOf(informer)]), ...again }];
  if (state.kind === 'failing')
    return [problemOfRequest(state.error, { about: publicContent, gvk: informer.query.gvk })];
  const left = [...informer.list()].filter(
    (stored) =>
      isRecord(stored, context.plan.name) && stored.object.metadata.namespace !== namespace,
  );
  const problems: Problem[] = [];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { uid = '' } = next.object.metadata;
      try {
        const options = { ...clusterWrite(pass), uid };
        await context.cluster.delete(refOfStored(next.object), options, signal);
      } catch (error) {
        if (!(error instanceof KubeError) || signal.aborted) throw error;
        if (error.code === 'uid-mismatch') continue;
        problems.push(problemOfRequest(error, { about: publicContent }));
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return problems;
}

/** No event tells when the list arrives: it is tried again. */
const again = { kind: 'permanent', retryAfterMs: 5_000 } as const;
