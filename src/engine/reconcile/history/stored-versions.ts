import type { HistoryPlan, OperatorPlan, ReadPlan } from '#compile';
import type { Informer, StoredObject } from '#kube/roles.ts';
import { historyAnnotationOf, recordOfLabel } from '#util/stored-names.ts';
import { type Problem, problemOfRequest, problemOfWaiting } from '../failure.ts';
import { kindAt, refOfStored } from '../identity.ts';
import { isTerminating } from '../ownership-claims.ts';
import type { Feature, ResourceRecords } from '../pass/feature.ts';
import { clusterWrite, type Pass, requestError } from '../pass/pass.ts';
import { publicContent } from '../secrecy.ts';
import { listOf, settledSoon } from '../watch/informer-waits.ts';
import { isRecord, revisionKind, secretKind } from './record.ts';

/** How long the deletion waits for the list of records before it is tried again. */
const listLimitMs = 10_000;
/** Records that are deleted at the same time. */
const concurrency = 10;

/**
 * The objects that store versions, as the passes of a definition meet them, whether it records versions or not: a read does not return them,
 * and those in other namespaces are deleted with the resource.
 */
export function createStoredVersions({ name, history }: OperatorPlan): Feature {
  const annotation = historyAnnotationOf(name);
  const hides = (_: Pass, read: ReadPlan, stored: StoredObject) =>
    // Versions of Secrets are Secrets: a read of Secrets does not return its own.
    read.history !== undefined && isRecord(stored, name);
  const isUsed = history !== undefined;
  return {
    isUsed,
    annotation,
    silent: { isUsed, hides },
    hides,
    ...(history?.isDetached === true && { records: (pass) => recordsOf(pass, history) }),
    // Versions in other namespaces are deleted with the resource, though the definition keeps none any more.
    keepsFinalizer: ({ resource }) => resource.metadata.annotations?.[annotation] !== undefined,
    mayRelease: removeRecords,
  };
}

/** The kinds of the records in other namespaces, which a later process deletes without a plan. */
function recordsOf({ context, resource, effects }: Pass, history: HistoryPlan): ResourceRecords {
  const annotation = historyAnnotationOf(context.plan.name);
  const kinds = history.recordKinds.map(({ kind }) => kind).join(',');
  return {
    annotations: { [annotation]: kinds },
    isRecorded:
      effects.hasFinalizer === true || resource.metadata.annotations?.[annotation] === kinds,
    isEarly: true,
  };
}

/**
 * Deletes the versions in other namespaces of a resource that is being deleted; the garbage collector deletes those in its own. Needs no
 * plan: an annotation names the kinds. Versions of a resource that stays are kept.
 */
async function removeRecords(pass: Pass): Promise<readonly Problem[]> {
  const { context, resource, uid, signal } = pass;
  const kinds = resource.metadata.annotations?.[historyAnnotationOf(context.plan.name)] ?? '';
  if (kinds === '' || !isTerminating(resource)) return [];
  const { cluster, clock } = context;
  const informers = [revisionKind, secretKind]
    .filter(({ kind }) => kinds.split(',').includes(kind))
    .map((gvk) =>
      cluster.acquire({
        gvk: kindAt(gvk, undefined),
        labelSelector: `${recordOfLabel}=${uid}`,
      }),
    );
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
    return [
      problemOfRequest(state.error, {
        about: publicContent,
        gvk: kindAt(informer.query.gvk, undefined),
      }),
    ];
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
        await context.cluster.delete(refOfStored(next), options, signal);
      } catch (thrown) {
        const error = requestError(thrown, pass);
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
