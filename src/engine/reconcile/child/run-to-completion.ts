import type { StoredObject } from '#kube/roles.ts';
import { isJsonObject } from '#util/json.ts';
import { isTerminating } from '../ownership-claims.ts';
import type { FinishedChild } from '../pass/finished-children.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { isOwn } from '../removal/untracked-children.ts';
import { hasEnded, runsOnce } from '../run-once.ts';
import { differencesOf, hashOfIntent } from './compare-intent.ts';
import { appliedResult, type DesiredElement } from './element-result.ts';
import { forObject } from './for-object.ts';
import { isIgnoredConflict, readinessOfElement } from './readiness.ts';

const notice = 'Finished: it is created again only if its intent changes';

interface ElementOptions {
  /** The object in the cache. */
  readonly live: StoredObject | undefined;
  readonly apply: () => Promise<ElementResult>;
}

/**
 * Applies an element that may run once (`runs`, docs/decisions/0025). Once its object has finished, this is recorded on the resource with a
 * hash of its intent. When the object has removed itself, the element is done: it counts as the object in its last state, and is not
 * created again until its intent changes.
 */
export async function applyUnlessDone(
  pass: Pass,
  desired: DesiredElement,
  { live, apply }: ElementOptions,
): Promise<ElementResult> {
  const isPresent = live !== undefined && !isTerminating(live.object);
  const done = isPresent ? undefined : await doneElement(pass, desired, live);
  return done ?? noteFinished(pass, desired, await apply());
}

/** The result of an element whose object has finished and is removed or being removed; undefined: it is to be applied. */
async function doneElement(
  pass: Pass,
  desired: DesiredElement,
  terminating: StoredObject | undefined,
): Promise<ElementResult | undefined> {
  const { identity } = desired.intent;
  const { finished } = pass.findings;
  const last = terminating ?? pass.state.removed.get(identity);
  if (last === undefined && finished.isEmpty) return undefined;
  let record = finished.records.get(identity);
  if (record?.intent !== hashOfRun(pass, desired)) {
    finished.delete(identity);
    const isAsDesired = last !== undefined && isOwn(pass, last) && hasIntent(pass, desired, last);
    record = isAsDesired ? await recordOf(pass, desired, last) : undefined;
    if (record !== undefined) finished.set(identity, record);
  } else if (record.child !== desired.plan.id) {
    // The child has another id now: as its object would, the record belongs to it.
    record = { ...record, child: desired.plan.id };
    finished.set(identity, record);
  }
  pass.state.removed.delete(identity);
  return record && { ...appliedResult(desired, inLastState(pass, desired, record)), notice };
}

/** Records an object that has finished, before it removes itself. */
async function noteFinished(
  pass: Pass,
  desired: DesiredElement,
  result: ElementResult,
): Promise<ElementResult> {
  const { live, problem } = result;
  const { identity } = desired.intent;
  const { finished } = pass.findings;
  if (live === undefined || (problem !== undefined && !isIgnoredConflict(problem))) return result;
  const isAsDesired =
    desired.plan.updateStrategy.type !== 'OnDelete' || hasIntent(pass, desired, live);
  const record = isAsDesired ? await recordOf(pass, desired, live) : undefined;
  // It runs again, or for another intent.
  if (record === undefined) finished.delete(identity);
  // The first record counts: a status that changes afterwards is not worth a write.
  else if (finished.records.get(identity)?.intent !== record.intent) finished.set(identity, record);
  return record === undefined ? result : { ...result, notice };
}

/** Is the desired intent the one that the object has? */
function hasIntent(pass: Pass, desired: DesiredElement, live: StoredObject): boolean {
  return differencesOf(pass, forObject(pass, desired, live), live) === undefined;
}

/** The record of an object with the desired intent; undefined: it has not finished, or does not run once. */
async function recordOf(
  pass: Pass,
  desired: DesiredElement,
  { object }: StoredObject,
): Promise<FinishedChild | undefined> {
  const { plan } = desired;
  if (!runsOnce(plan, object) || hasEnded(plan.gvk, object) === false) return undefined;
  const { uid, creationTimestamp } = object.metadata;
  const record: FinishedChild = {
    child: plan.id,
    intent: hashOfRun(pass, desired),
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    status: isJsonObject(object.status) ? object.status : {},
  };
  if (hasEnded(plan.gvk, object) === true) return record;
  // Objects of a kind that does not end have finished once they are ready.
  const result = appliedResult(desired, inLastState(pass, desired, record));
  const { state } = await readinessOfElement(pass.desiredPhase, result);
  return state === 'Ready' ? record : undefined;
}

/** The object as it finished: as rendered, with its last status. The same before and after a restart. */
function inLastState(
  { others }: Pass,
  { intent: { ref, manifest, fullManifest = manifest } }: DesiredElement,
  { uid, creationTimestamp, status }: FinishedChild,
): StoredObject {
  const metadata = {
    ...fullManifest.metadata,
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
  };
  const { cluster } = ref.gvk;
  const stored = { object: { ...fullManifest, metadata, status }, cluster, appliedBy: [] };
  others?.note(stored);
  return stored;
}

/** For a Secret, only its fields: its values could be guessed from a hash of them. */
function hashOfRun(pass: Pass, { plan: { gvk }, intent }: DesiredElement): string {
  const isSecret = gvk.group === '' && gvk.kind === 'Secret';
  return isSecret ? intent.pathHash : hashOfIntent(pass, intent);
}
