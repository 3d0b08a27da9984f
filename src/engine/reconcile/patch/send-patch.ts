import type { PatchPlan, ReadPlan, RenderedPatch } from '#compile';
import type { KubeError, RefAt, StoredObject } from '#kube/roles.ts';
import { fieldName } from '#util/field-path.ts';
import { apiVersionOf } from '#util/gvk.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { patchManagerOf } from '#util/stored-names.ts';
import { releaseFields } from '../child/release-fields.ts';
import { isStale } from '../child/send-intent.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { identityOf } from '../identity.ts';
import { covers, differenceDigest, differences } from '../intent/compare.ts';
import type { Difference } from '../intent/difference.ts';
import type { Intent } from '../intent/intent.ts';
import { pathHash } from '../intent/path-hash.ts';
import { prepare } from '../intent/prepare.ts';
import { ongoingConflict, recordRepair } from '../ledger/ownership-conflicts.ts';
import { noteOwnEdit } from '../ledger/pace.ts';
import { applyBlocker, recordRejection } from '../ledger/rejections.ts';
import { clusterWrite, countApply, type Pass, type PassInput, requestError } from '../pass/pass.ts';
import { type Disclosure, fieldText } from '../secrecy.ts';
import { isChanged, type PatchWithKind } from './patch-target.ts';

export interface DesiredPatch {
  readonly plan: PatchWithKind;
  readonly intent: Intent;
  readonly isSelf: boolean;
  /** The read that records the target: no state is overwritten unrecorded. @default undefined: none does */
  readonly recordedBy?: ReadPlan;
  /** Whether another manager of ours is about to give up the fields: it is applied also if all values are equal. @default false */
  readonly takesOver?: boolean;
}

/** Maximum number of attempts in one pass for an object that changes concurrently. */
export const maxTries = 4;

/** Patches the target if it differs; returns the problem, if any. `live`: undefined: it is created. */
export async function sendPatch(
  pass: Pass,
  desired: DesiredPatch,
  first: StoredObject | undefined,
): Promise<Problem | undefined> {
  const { plan, intent, isSelf } = desired;
  const applied = { plan, intent, manager: managerOf(pass, plan) };
  let live = first;
  for (let tries = 1; ; tries++) {
    const differing = live === undefined ? [] : differingFields(pass, plan, { intent, live });
    const found = desired.takesOver === true ? (differing ?? []) : differing;
    if (found === undefined) {
      countApply(pass, 'skipped');
      return ongoingConflict(pass, applied);
    }
    const problem =
      (await applyBlocker(pass, applied, live)) ?? (await ensureRecorded(pass, desired, live));
    if (problem !== undefined) return problem;
    try {
      await apply(pass, desired, { live, found });
      return ongoingConflict(pass, applied);
    } catch (thrown) {
      const error = requestError(thrown, pass);
      if (tries === maxTries || !isStale(error)) return failed(pass, desired, error, live);
    }
    const again = await readAgain(pass, desired, live);
    if ('problem' in again) return again.problem;
    live = again.live;
    if (live === undefined && !plan.create) return undefined;
    // The patch was rendered from an older state: the next pass renders it again.
    if (isSelf && (live === undefined || isChanged(pass, live))) return undefined;
  }
}

/** Why the state that the patch overwrites cannot be recorded. */
async function ensureRecorded(
  { key, uid, resource }: Pass,
  { plan: { records }, recordedBy, intent }: DesiredPatch,
  live: StoredObject | undefined,
): Promise<Problem | undefined> {
  if (recordedBy === undefined) return undefined;
  const { namespace, name } = intent.ref;
  const owner = { key, uid, resource };
  return records?.ensureRecorded?.(owner, recordedBy, { namespace, name, live });
}

/** Reads the object again: the cache was stale. */
export async function readAgain(
  pass: Pass,
  desired: DesiredPatch,
  before: StoredObject | undefined,
): Promise<{ readonly live: StoredObject | undefined } | { readonly problem: Problem }> {
  const { ref } = desired.intent;
  try {
    return { live: await pass.context.cluster.get(ref, clusterWrite(pass), pass.signal) };
  } catch (error) {
    return { problem: failed(pass, desired, requestError(error, pass), before) };
  }
}

async function apply(
  pass: Pass,
  desired: DesiredPatch,
  {
    live,
    found,
  }: { readonly live: StoredObject | undefined; readonly found: readonly Difference[] },
): Promise<void> {
  const { plan, intent, isSelf } = desired;
  const manager = managerOf(pass, plan);
  const { manifest } = intent;
  const body = {
    ...manifest,
    metadata: { ...manifest.metadata, ...preconditionOf(desired, live) },
  };
  const options = { ...clusterWrite(pass, intent.ref), fieldManager: manager, maxBytes };
  const isWhole = plan.replaces || plan.setsStatus;
  if (live !== undefined && !isWhole)
    await releaseFields(pass, { ref: intent.ref, manifest, manager }, live);
  const { cluster } = pass.context;
  const { stored, created } = await patchItself(pass, isSelf, async () =>
    plan.replaces && live !== undefined
      ? { stored: await cluster.replace(body, options, pass.signal), created: false }
      : cluster.apply(
          body,
          { ...options, cluster: undefined, force: true, ...subresourceOf(plan.setsStatus) },
          pass.signal,
        ),
  );
  rememberResponse(pass, plan, { intent, live: stored });
  const isNoop = live?.object.metadata.resourceVersion === stored.object.metadata.resourceVersion;
  countApply(pass, created ? 'created' : isNoop ? 'noop' : 'changed');
  if (isNoop) return;
  pass.effects.patched.push(plan.id);
  if (live !== undefined && found.length > 0) recordRepair(pass, { plan, intent, manager }, found);
  if (isSelf) recordOwnChange(pass, plan, { stored, found });
}

/** The field manager of a patch. Several resources that patch one object have one each. */
function managerOf({ context, key }: PassInput, { id, isShared }: PatchWithKind): string {
  return patchManagerOf(context.plan.name, id, isShared ? key : undefined);
}

/** The endpoint of a patch. */
export function subresourceOf(setsStatus: boolean): { readonly subresource?: 'status' } {
  return setsStatus ? { subresource: 'status' } : {};
}

/** Maximum size of a patch, as of a rendered child (docs/definition/children.md#limits). */
export const maxBytes = 1_048_576;

/** An existing object is patched by UID, never its replacement. For an object to create, no object has this version. */
export function preconditionOf(
  { isSelf, recordedBy }: DesiredPatch,
  live: StoredObject | undefined,
): { readonly uid?: string; readonly resourceVersion?: string } {
  if (live === undefined) return { resourceVersion: '1' };
  const { uid = '', resourceVersion = '' } = live.object.metadata;
  return isSelf || recordedBy !== undefined ? { uid, resourceVersion } : { uid };
}

/** Marks the event of a patch of the resource itself as not coming from outside. */
export async function patchItself<Result>(
  { state }: PassInput,
  isSelf: boolean,
  send: () => Promise<Result>,
): Promise<Result> {
  if (!isSelf) return send();
  const { ledger } = state;
  ledger.isPatchingItself = true;
  try {
    return await send();
  } finally {
    ledger.isPatchingItself = false;
  }
}

/** The new generation of the resource is not an edit by the user. */
export function recordOwnChange(
  pass: Pass,
  plan: Disclosure,
  { stored, found }: { readonly stored: StoredObject; readonly found: readonly Difference[] },
): void {
  noteOwnEdit(pass.state.ledger, stored.object.metadata.generation);
  const [first] = found;
  const field = first && fieldText(fieldName(first.path), plan);
  pass.effects.ownPatchedField ??= field || 'metadata';
}

export function failed(
  pass: Pass,
  desired: DesiredPatch,
  error: KubeError,
  live: StoredObject | undefined,
): Problem {
  countApply(pass, 'failed');
  const { plan } = desired;
  const { place } = plan;
  const { gvk, namespace } = desired.intent.ref;
  const problem = problemOfRequest(error, { about: plan, gvk, namespace, place });
  return recordRejection(pass, desired.intent, { error, problem, live });
}

interface IntentOptions {
  readonly plan: PatchPlan;
  readonly ref: RefAt;
  readonly fields: RenderedPatch['fields'];
}

/** The intent of a patch. Its entries in the ledger are separate from those of a child of the same name. */
export function patchIntent(pass: Pass, { plan, ref, fields }: IntentOptions): Intent {
  const { gvk, namespace, name } = ref;
  const hasStatus = !plan.setsStatus && (pass.context.cluster.resourceFor(gvk)?.hasStatus ?? true);
  const written: KubeObject = {
    ...fields,
    apiVersion: apiVersionOf(gvk),
    kind: gvk.kind,
    metadata: {
      ...(fields.metadata as ObjectMeta | undefined),
      name,
      ...(namespace === undefined ? {} : { namespace }),
    },
  };
  const manifest = prepare(written, plan.type, { hasStatus });
  return {
    ref,
    identity: `patch ${plan.id} ${identityOf(gvk, namespace, name)}`,
    manifest,
    pathHash: pathHash(manifest, plan.type),
  };
}

/** The fields that differ in the target; undefined: another apply would change nothing. */
export function differingFields(
  { state }: PassInput,
  plan: PatchPlan,
  { intent, live }: { readonly intent: Intent; readonly live: StoredObject },
): readonly Difference[] | undefined {
  const found = differencesTo(plan, intent, live);
  if (found.length === 0) return undefined;
  return state.responses.serverDefaults.get(intent.identity) === fingerprint(intent, found)
    ? undefined
    : found;
}

/** How the target differs. A patch that replaces it also removes fields. */
function differencesTo(
  { type, replaces }: PatchPlan,
  { manifest }: Intent,
  { object }: StoredObject,
): readonly Difference[] {
  if (!replaces) {
    return covers(manifest, object, type) ? [] : differences(manifest, object, type);
  }
  const { metadata: _, status: __, ...content } = object;
  const removed = differences(content as KubeObject, manifest, type).map(
    ({ path, want, have }): Difference => ({ path, want: have, have: want }),
  );
  return [...differences(manifest, object, type), ...removed];
}

/** Stores how the server's response to a patch differs from it. */
export function rememberResponse(
  { state }: PassInput,
  plan: PatchPlan,
  { intent, live }: { readonly intent: Intent; readonly live: StoredObject },
): void {
  const found = differencesTo(plan, intent, live);
  if (found.length === 0) state.responses.serverDefaults.delete(intent.identity);
  else state.responses.serverDefaults.set(intent.identity, fingerprint(intent, found));
}

function fingerprint({ pathHash: hash }: Intent, found: readonly Difference[]): string {
  return `${hash} ${differenceDigest(found)}`;
}
