import type { HistoryPlan } from '../../compile/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import {
  clustersAnnotationOf,
  finalizerManagerOf,
  finalizerOf,
  historyAnnotationOf,
  inventoryAnnotationOf,
  onDeleteAnnotationOf,
} from '../../util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { type Placements, placementsText, recordedUid } from '../members/placements.ts';
import { memberProblem } from '../observe/observe-members.ts';
import { clustersAfter, remainingObjects } from '../ownership/maintain-inventory.ts';
import { currentPlacements, isGivenUp } from '../ownership/placement.ts';
import { hasFinalizer } from '../ownership-claims.ts';
import { entriesFor } from '../pass/inventory.ts';
import {
  clusterWrite,
  emitEvent,
  type Pass,
  problemOfResource,
  requestError,
} from '../pass/pass.ts';
import { annotateResource } from '../resource/write-metadata.ts';
import { isForeign } from '../status-fields.ts';
import { cachedObject, isOwnOrAdoptable } from './apply-element.ts';
import { unreadyDependencies } from './readiness.ts';
import { blocked, clustersOf, type ResolvedChild } from './resolve-child.ts';

/**
 * Sets the finalizer before the first object is created that the garbage collector would not delete. Children that need it are blocked
 * while it cannot be written. For kinds of `for`, the same apply adds the new objects to the inventory.
 */
export async function ensureFinalizer(
  pass: Pass,
  children: readonly ResolvedChild[],
): Promise<readonly ResolvedChild[]> {
  const { plan } = pass.context;
  const detached = plan.needsFinalizer ? children.filter(needsFinalizer) : [];
  if (detached.length === 0) return children;
  const unrecorded = isForeign(plan) ? await unrecordedOf(pass, detached) : [];
  const current = currentPlacements(pass);
  const placements = placementsWith(pass, detached, current);
  const isRecorded = unrecorded.length === 0 && placements === current;
  if (hasMetadata(pass) && isRecorded) return children;
  const problem = await applyMetadata(pass, unrecorded, placements);
  if (problem === undefined) return children;
  return children.map((child) => (needsFinalizer(child) ? blocked(child.plan, problem) : child));
}

/** Sets the finalizer for `onDelete`, which runs with or without children, and for versions in other namespaces. */
export async function ensureEarlyFinalizer(pass: Pass): Promise<void> {
  const { onDelete, history } = pass.context.plan;
  const isNeeded = onDelete !== undefined || history?.isDetached === true;
  if (!isNeeded || hasMetadata(pass)) return;
  const problem = await applyMetadata(pass, [], currentPlacements(pass));
  if (problem !== undefined) pass.effects.finalizerProblem = problem;
}

/** The placements with the usable members of these children; the current ones if nothing is added. */
function placementsWith(
  pass: Pass,
  children: readonly ResolvedChild[],
  current: Placements,
): Placements {
  const added = new Map<string, string>();
  for (const cluster of clustersOf(children)) {
    const uid = pass.members?.uidOf(cluster);
    if (uid !== undefined && current.get(cluster) !== recordedUid(uid))
      added.set(cluster, recordedUid(uid));
  }
  return added.size === 0 ? current : new Map([...current, ...added]);
}

/**
 * Removes the member clusters from the annotation that have nothing of the resource any more, and those that are given up: their object of
 * kind `Cluster` was deleted, or it is another cluster by now. Nothing is deleted in these.
 */
export async function removeOldPlacements(pass: Pass): Promise<void> {
  const current = currentPlacements(pass);
  if (current.size === 0) return;
  const remaining = clustersAfter(pass);
  const desired = [...pass.effects.children.values()].flatMap(({ elements }) =>
    elements.flatMap(({ cluster }) => cluster ?? []),
  );
  const isKept = (cluster: string) =>
    !isGivenUp(pass, cluster) &&
    (remaining === undefined || remaining.has(cluster) || desired.includes(cluster));
  const kept = new Map([...current].filter(([cluster]) => isKept(cluster)));
  if (kept.size === current.size) return;
  const annotation = clustersAnnotationOf(pass.context.plan.name);
  const problem = await annotateResource(pass, { [annotation]: placementsText(kept) ?? null });
  // Before the record changes: what is given up depends on the recorded UID.
  const givenUp = [...current.keys()].filter((cluster) => isGivenUp(pass, cluster));
  if (problem === undefined && givenUp.length > 0) reportGivenUp(pass, givenUp);
  if (problem === undefined) pass.effects.placements = kept;
  else pass.effects.finalizerProblem ??= problem;
}

function reportGivenUp(pass: Pass, clusters: readonly string[]): void {
  const names = clusters.map((cluster) => `"${cluster}"`).sort();
  const note = `The objects in cluster ${names.join(', ')} are given up and stay there: its Cluster object was deleted, or is another cluster now`;
  emitEvent(pass, { type: 'Warning', reason: 'ObjectsGivenUp', note });
}

/** Removes the inventory annotation of an earlier version once the status has an inventory. */
export async function removeOldInventory(pass: Pass): Promise<void> {
  const { context, resource, findings } = pass;
  const { inventory } = findings;
  const annotation = inventoryAnnotationOf(context.plan.name);
  if (isForeign(context.plan) || !inventory.exists) return;
  if (resource.metadata.annotations?.[annotation] === undefined) return;
  const problem = await annotateResource(pass, { [annotation]: null });
  if (problem !== undefined) pass.effects.finalizerProblem ??= problem;
}

function needsFinalizer({ plan, isDesired, elements }: ResolvedChild): boolean {
  return plan.isDetached && isDesired && elements.some(({ kind }) => kind === 'rendered');
}

/** Objects that may be created now and are not recorded. Waiting ones are not recorded: another user could create an object of that name. */
async function unrecordedOf(
  pass: Pass,
  children: readonly ResolvedChild[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { plan, elements } of children) {
    for (const each of elements) {
      if (each.kind !== 'rendered') continue;
      const { gvk } = each.intent.ref;
      if (memberProblem(pass, gvk) !== undefined) continue;
      if ((await unreadyDependencies(pass, plan, gvk.cluster)).length > 0) continue;
      const { identity } = each.intent;
      // One that has finished is not created again before its intent changes: the next pass adds it then.
      if (pass.findings.inventory.has(identity) || pass.findings.finished.records.has(identity))
        continue;
      const live = cachedObject(pass, each.intent);
      if (live === undefined || isOwnOrAdoptable(pass, plan, live))
        found.push(each.intent.identity);
    }
  }
  return found;
}

/** Does the resource have our finalizer and annotations? */
function hasMetadata({ context: { plan }, resource, effects }: Pass): boolean {
  if (effects.hasFinalizer === true) return true;
  const isMarked = resource.metadata.annotations?.[onDeleteAnnotationOf(plan.name)] !== undefined;
  const { [historyAnnotationOf(plan.name)]: recorded } = resource.metadata.annotations ?? {};
  const hasHistory =
    plan.history?.isDetached !== true || recorded === recordedKindsOf(plan.history);
  return (
    hasFinalizer(resource, plan.name) && isMarked === (plan.onDelete !== undefined) && hasHistory
  );
}

/** The value of {@link historyAnnotationOf}. */
function recordedKindsOf({ recordKinds }: HistoryPlan): string {
  return recordKinds.map(({ kind }) => kind).join(',');
}

/** @returns the error, if any. */
async function applyMetadata(
  pass: Pass,
  unrecorded: readonly string[],
  placements: Placements,
): Promise<Problem | undefined> {
  const { context, resource, uid, signal, findings } = pass;
  const { inventory } = findings;
  const { plan, cluster } = context;
  const { name, namespace } = resource.metadata;
  const remaining = remainingObjects(pass);
  const clusters = placementsText(placements);
  const manifest: KubeObject = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      finalizers: [finalizerOf(plan.name)],
      annotations: {
        ...(isForeign(plan) &&
          remaining !== undefined && {
            [inventoryAnnotationOf(plan.name)]: JSON.stringify(
              entriesFor([...remaining, ...unrecorded]),
            ),
          }),
        ...(plan.onDelete && { [onDeleteAnnotationOf(plan.name)]: 'true' }),
        ...(plan.history?.isDetached === true && {
          [historyAnnotationOf(plan.name)]: recordedKindsOf(plan.history),
        }),
        ...(clusters !== undefined && { [clustersAnnotationOf(plan.name)]: clusters }),
      },
    },
  };
  try {
    const fieldManager = finalizerManagerOf(plan.name);
    await cluster.apply(manifest, { ...clusterWrite(pass), fieldManager, force: true }, signal);
    pass.effects.hasWritten = true;
    pass.effects.hasFinalizer = true;
    pass.effects.placements = placements;
    for (const identity of unrecorded) inventory.addCreated(identity);
    return undefined;
  } catch (error) {
    return problemOfResource(pass, requestError(error, pass), 'finalizer');
  }
}
