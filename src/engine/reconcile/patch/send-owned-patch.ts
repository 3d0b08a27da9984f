import type { KubeError, StoredObject } from '#kube/roles.ts';
import { valueAtSteps } from '#util/field-path.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { ownedPatchManagerOf, patchManagerOf } from '#util/stored-names.ts';
import { releaseFields } from '../child/release-fields.ts';
import { isStale } from '../child/send-intent.ts';
import type { Problem } from '../failure.ts';
import { identityOfRef } from '../identity.ts';
import type { Difference } from '../intent/difference.ts';
import { stepsOf } from '../intent/field-steps.ts';
import type { Intent } from '../intent/intent.ts';
import { ignoreConflict, withoutIgnored } from '../ledger/ignored-fields.ts';
import { ongoingConflict, recordRepair } from '../ledger/ownership-conflicts.ts';
import { applyBlocker, forgetRejection } from '../ledger/rejections.ts';
import { clusterWrite, countApply, type Pass, requestError } from '../pass/pass.ts';
import type { PatchClaims } from './patch-claims.ts';
import { isChanged } from './patch-target.ts';
import {
  type DesiredPatch,
  differingFields,
  failed,
  maxBytes,
  maxTries,
  patchItself,
  preconditionOf,
  readAgain,
  recordOwnChange,
  rememberResponse,
  subresourceOf,
} from './send-patch.ts';
import { applyNothing, planOf } from './withdraw-patch.ts';

/** A patch that owns its fields, as it is sent. */
interface OwnedPatch extends DesiredPatch {
  readonly claims: PatchClaims;
  readonly conflicts: 'Report' | 'Force';
  /** Whether it is recorded, so that it can be withdrawn. */
  readonly withdraws: boolean;
  readonly manager: string;
}

/** As `sendPatch`, by the field manager of this patch of this resource; fields of other managers are reported, unless they are to be taken. */
export async function sendOwnedPatch(
  pass: Pass,
  patch: DesiredPatch & { readonly claims: PatchClaims },
  first: StoredObject | undefined,
): Promise<Problem | undefined> {
  const { plan, intent, isSelf } = patch;
  const { conflicts = 'Report', withdraws = false } = plan.owned ?? {};
  const manager = ownedPatchManagerOf(pass.context.plan.name, plan.id, pass.key);
  const owned = { ...patch, conflicts, withdraws, manager };
  let live = first;
  let takesEmpty = false;
  for (let tries = 1; ; tries++) {
    const sent = withoutIgnored(pass, { plan: { ...plan, conflicts }, intent }, live);
    const applied = { plan, intent: sent.desired.intent, manager };
    const found = neededChange(pass, owned, { intent: applied.intent, live });
    if (found === undefined) {
      countApply(pass, 'skipped');
      return sent.problem ?? ongoingConflict(pass, applied);
    }
    const blocker = (await applyBlocker(pass, applied, live)) ?? (await claim(owned));
    if (blocker !== undefined) return blocker;
    if (isSelf) {
      // The claim is a new version of it.
      live = pass.context.watches.resources.get(pass.key);
      if (live === undefined || isChanged(pass, live)) return undefined;
    }
    try {
      await apply(pass, { ...owned, intent: applied.intent }, { live, found, takesEmpty });
      if (withdraws) owned.claims.confirm(plan, identityOfRef(intent.ref), intent.pathHash);
      return sent.problem ?? ongoingConflict(pass, applied);
    } catch (thrown) {
      const error = requestError(thrown, pass);
      const isLast = tries === maxTries;
      const conflicting = { plan: { ...plan, conflicts }, intent: applied.intent };
      takesEmpty = !takesEmpty && isAboutNothing(error, applied.intent, live);
      if (!isLast && takesEmpty) continue;
      if (!isLast && ignoreConflict(pass, conflicting, { error, live })) continue;
      if (isLast || !isStale(error)) {
        return failed(pass, { ...owned, intent: applied.intent }, error, live);
      }
    }
    const again = await readAgain(pass, patch, live);
    if ('problem' in again) return again.problem;
    live = again.live;
    if (live === undefined && !plan.create) return undefined;
    // The patch was rendered from an older state: the next pass renders it again.
    if (isSelf && (live === undefined || isChanged(pass, live))) return undefined;
  }
}

/** Records the claim before anything is owned. */
async function claim({
  claims,
  withdraws,
  plan,
  intent,
}: OwnedPatch): Promise<Problem | undefined> {
  // The digest is that of all its paths: what is left to others now may be applied later.
  return withdraws ? claims.record(plan, identityOfRef(intent.ref), intent.pathHash) : undefined;
}

/**
 * What an apply would change. Undefined: nothing, also no ownership. Fields that left the patch are still owned while the recorded digest is
 * another one.
 */
function neededChange(
  pass: Pass,
  { plan, manager, claims, withdraws, intent: whole }: OwnedPatch,
  { intent, live }: { readonly intent: Intent; readonly live: StoredObject | undefined },
): readonly Difference[] | undefined {
  if (live === undefined) return [];
  const found = differingFields(pass, plan, { intent, live });
  if (found !== undefined) return found;
  const isApplied =
    plan.setsStatus || live.appliedBy.includes(manager) || !hasFields(intent.manifest);
  const isRecorded =
    !withdraws || claims.digestOf(plan, identityOfRef(whole.ref)) === whole.pathHash;
  return isApplied && isRecorded ? undefined : [];
}

/** Does a patch set anything, once all fields of others are left out? */
function hasFields({ apiVersion: _, kind: __, metadata, ...content }: KubeObject): boolean {
  const { name: ___, namespace: ____, ...fields } = metadata;
  return Object.keys(content).length > 0 || Object.keys(fields).length > 0;
}

interface OwnedApply {
  readonly live: StoredObject | undefined;
  readonly found: readonly Difference[];
  /** Whether it takes maps and lists of others that do not exist in exactly this version. */
  readonly takesEmpty: boolean;
}

/**
 * Does a conflict concern only maps and lists that do not exist? A manager that has removed all keys of a map still owns the map: it would keep
 * others out of it. One that exists and is empty is a value: an empty selector selects everything.
 */
function isAboutNothing(
  { code, causes }: KubeError,
  { manifest }: Intent,
  live: StoredObject | undefined,
): boolean {
  if (code !== 'field-conflict' || live === undefined || causes.length === 0) return false;
  return causes.every(({ field = '' }) => {
    const steps = stepsOf(field, manifest);
    if (steps === undefined || steps.length === 0) return false;
    const isCollection = typeof valueAtSteps(manifest, steps) === 'object';
    return isCollection && (valueAtSteps(live.object, steps) ?? undefined) === undefined;
  });
}

async function apply(
  pass: Pass,
  patch: OwnedPatch,
  { live, found, takesEmpty }: OwnedApply,
): Promise<void> {
  const { plan, intent, isSelf, manager, conflicts } = patch;
  const { ref, manifest } = intent;
  const send = (as: string, guard: { readonly uid?: string; readonly resourceVersion?: string }) =>
    patchItself(pass, isSelf, () =>
      pass.context.cluster.apply(
        { ...manifest, metadata: { ...manifest.metadata, ...guard } },
        {
          ...clusterWrite(pass, ref),
          cluster: undefined,
          fieldManager: as,
          // Only fields of an existing object have owners.
          force: conflicts === 'Force' || live === undefined || takesEmpty,
          maxBytes,
          ...subresourceOf(plan.setsStatus),
        },
        pass.signal,
      ),
    );
  if (live !== undefined && !plan.setsStatus)
    await releaseFields(pass, { ref, manifest, manager }, live);
  const { resourceVersion = '' } = live?.object.metadata ?? {};
  let guard = { ...preconditionOf(patch, live), ...(takesEmpty && { resourceVersion }) };
  const earlier = earlierManagers(pass, patch, live);
  for (const each of earlier) {
    // Their fields get the new values first: the patch does not conflict with what it was before.
    const { metadata } = (await send(each, guard)).stored.object;
    const { uid = '' } = metadata;
    // What is taken by force does not exist in exactly this version.
    guard = { uid, ...(takesEmpty && { resourceVersion: metadata.resourceVersion ?? '' }) };
  }
  let { stored, created } = await send(manager, guard);
  for (const each of earlier)
    stored = await applyNothing(pass, {
      ...{ ref, live: stored, isSelf, manager: each, setsStatus: plan.setsStatus },
    });
  forgetRejection(pass, intent);
  rememberResponse(pass, plan, { intent, live: stored });
  const isNoop = live?.object.metadata.resourceVersion === stored.object.metadata.resourceVersion;
  countApply(pass, created ? 'created' : isNoop ? 'noop' : 'changed');
  if (isNoop) return;
  pass.effects.patched.push(plan.id);
  if (live !== undefined && found.length > 0) recordRepair(pass, { plan, intent, manager }, found);
  if (isSelf) recordOwnChange(pass, plan, { stored, found });
}

/** Our field managers of the same fields before an edit of the definition: the patch was not owned, or had another id. */
function earlierManagers(
  pass: Pass,
  { plan, intent, claims }: OwnedPatch,
  live: StoredObject | undefined,
): readonly string[] {
  const { name } = pass.context.plan;
  // The cache does not show managers of a status: a conflict with an earlier one ends with its withdrawal.
  if (plan.setsStatus) return [];
  const renamed = claims
    .on(identityOfRef(intent.ref))
    .filter(({ id, setsStatus }) => !setsStatus && planOf(pass, id) === undefined)
    .map(({ id }) => ownedPatchManagerOf(name, id, pass.key));
  const unowned = [patchManagerOf(name, plan.id), patchManagerOf(name, plan.id, pass.key)];
  return [...unowned, ...renamed].filter((manager) => live?.appliedBy.includes(manager) === true);
}
