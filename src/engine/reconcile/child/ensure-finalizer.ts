import type { RefAt } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  finalizerManagerOf,
  finalizerOf,
  inventoryAnnotationOf,
  onDeleteAnnotationOf,
} from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { remainingObjects } from '../ownership/maintain-inventory.ts';
import { hasFinalizer } from '../ownership-claims.ts';
import type { ResourceRecords } from '../pass/feature.ts';
import { entriesFor } from '../pass/inventory.ts';
import { unavailable } from '../pass/other-clusters.ts';
import { clusterWrite, type Pass, problemOfResource, requestError } from '../pass/pass.ts';
import { annotateResource } from '../resource/write-metadata.ts';
import { isForeign } from '../status-fields.ts';
import { isOwnOrAdoptable } from './apply-element.ts';
import { cachedObject } from './cached-object.ts';
import { dependenciesOf } from './dependencies.ts';
import { blocked, type ResolvedChild } from './resolve-child.ts';

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
  const records = recordsOf(pass, detached.flatMap(refsOf));
  if (hasMetadata(pass, records) && unrecorded.length === 0) return children;
  const problem = await applyMetadata(pass, unrecorded, records);
  if (problem === undefined) return children;
  return children.map((child) => (needsFinalizer(child) ? blocked(child.plan, problem) : child));
}

/** Sets the finalizer for `onDelete`, which runs with or without children, and for features that need it before a read. */
export async function ensureEarlyFinalizer(pass: Pass): Promise<void> {
  const records = recordsOf(pass, []);
  const isNeeded =
    pass.context.plan.onDelete !== undefined || records.some(({ isEarly }) => isEarly === true);
  if (!isNeeded || hasMetadata(pass, records)) return;
  const problem = await applyMetadata(pass, [], records);
  if (problem !== undefined) pass.effects.finalizerProblem = problem;
}

function recordsOf(pass: Pass, creates: readonly RefAt[]): readonly ResourceRecords[] {
  const ofOthers = pass.others?.records(creates);
  return [
    ...pass.features.flatMap((feature) => feature.records?.(pass, creates) ?? []),
    ...(ofOthers ? [ofOthers] : []),
  ];
}

function refsOf({ elements }: ResolvedChild): readonly RefAt[] {
  return elements.flatMap((each) => (each.kind === 'rendered' ? [each.intent.ref] : []));
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
  for (const child of children) {
    const { plan, elements } = child;
    const dependencies = await dependenciesOf(pass, child);
    for (const each of elements) {
      if (each.kind !== 'rendered') continue;
      if (unavailable(pass, each.intent.ref.gvk) !== undefined) continue;
      if (dependencies(each).length > 0) continue;
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
function hasMetadata(
  { context: { plan }, resource, effects }: Pass,
  records: readonly ResourceRecords[],
): boolean {
  if (!records.every(({ isRecorded }) => isRecorded)) return false;
  if (effects.hasFinalizer === true) return true;
  const isMarked = resource.metadata.annotations?.[onDeleteAnnotationOf(plan.name)] !== undefined;
  return hasFinalizer(resource, plan.name) && isMarked === (plan.onDelete !== undefined);
}

/**
 * One apply of all of it.
 * @param unrecorded Identities to add to the inventory of a kind of `for`.
 * @returns the error, if any.
 */
async function applyMetadata(
  pass: Pass,
  unrecorded: readonly string[],
  records: readonly ResourceRecords[],
): Promise<Problem | undefined> {
  const { context, resource, uid, signal, findings } = pass;
  const { inventory } = findings;
  const { plan, cluster } = context;
  const { name, namespace } = resource.metadata;
  const remaining = remainingObjects(pass);
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
        ...Object.assign({}, ...records.map(({ annotations }) => annotations)),
      },
    },
  };
  try {
    const fieldManager = finalizerManagerOf(plan.name);
    await cluster.apply(
      manifest,
      { ...clusterWrite(pass), cluster: undefined, fieldManager, force: true },
      signal,
    );
    pass.effects.hasWritten = true;
    pass.effects.hasFinalizer = true;
    for (const { onWritten } of records) onWritten?.();
    for (const identity of unrecorded) inventory.addCreated(identity);
    return undefined;
  } catch (error) {
    return problemOfResource(pass, requestError(error, pass), 'finalizer');
  }
}
