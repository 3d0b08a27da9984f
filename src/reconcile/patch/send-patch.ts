import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { noteRejected, whyNotApply } from '../attempt/limiter.ts';
import { noteRepair, stillContested } from '../attempt/ownership-conflicts.ts';
import { isStale } from '../child/send-intent.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { type Difference, fieldName } from '../intent/difference.ts';
import type { Intent } from '../intent/intent.ts';
import { patchManagerOf } from '../names.ts';
import { type Given, type Pass, worldWrite } from '../pass/pass.ts';
import { fieldText } from '../secrecy.ts';
import { differingFields, rememberAnswer } from './patch-intent.ts';
import { isChanged, type PatchOf } from './patch-target.ts';

export interface WantedPatch {
  readonly plan: PatchOf;
  readonly intent: Intent;
  readonly isSelf: boolean;
}

/** How often one pass follows an object that changes under its hands. */
const maxTries = 4;

/** Makes the target so, unless it is; gives what stands in the way. `live`: undefined: it is to be made. */
export async function sendPatch(
  pass: Pass,
  wanted: WantedPatch,
  first: StoredObject | undefined,
): Promise<Problem | undefined> {
  const { plan, intent, isSelf } = wanted;
  const defended = { plan, intent, manager: managerOf(pass, plan) };
  let live = first;
  for (let tries = 1; ; tries++) {
    const found = live === undefined ? [] : differingFields(pass, plan, { intent, live });
    if (found === undefined) {
      count(pass, 'skipped');
      return stillContested(pass, defended);
    }
    const problem = await whyNotApply(pass, defended, live);
    if (problem !== undefined) return problem;
    try {
      await apply(pass, wanted, { live, found });
      return stillContested(pass, defended);
    } catch (error) {
      if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
      if (tries === maxTries || !isStale(error)) return failed(pass, wanted, error, live);
    }
    const again = await readAgain(pass, wanted, live);
    if ('problem' in again) return again.problem;
    live = again.live;
    if (live === undefined && !plan.create) return undefined;
    // What the patch was made of has changed: the resource runs again with that.
    if (isSelf && (live === undefined || isChanged(pass, live))) return undefined;
  }
}

/** The cache was behind. */
async function readAgain(
  pass: Pass,
  wanted: WantedPatch,
  before: StoredObject | undefined,
): Promise<{ readonly live: StoredObject | undefined } | { readonly problem: Problem }> {
  const { ref } = wanted.intent;
  try {
    return { live: await pass.context.cluster.get(ref, worldWrite(pass), pass.signal) };
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    return { problem: failed(pass, wanted, error, before) };
  }
}

async function apply(
  pass: Pass,
  wanted: WantedPatch,
  {
    live,
    found,
  }: { readonly live: StoredObject | undefined; readonly found: readonly Difference[] },
): Promise<void> {
  const { plan, intent, isSelf } = wanted;
  const manager = managerOf(pass, plan);
  const { manifest } = intent;
  const body = { ...manifest, metadata: { ...manifest.metadata, ...guardOf(wanted, live) } };
  const options = { ...worldWrite(pass), fieldManager: manager, force: true, maxBytes };
  const { stored, created } = await ownPatch(pass, isSelf, () =>
    pass.context.cluster.apply(body, options, pass.signal),
  );
  rememberAnswer(pass, plan, { intent, live: stored });
  const isNoop = live?.object.metadata.resourceVersion === stored.object.metadata.resourceVersion;
  count(pass, created ? 'created' : isNoop ? 'noop' : 'changed');
  if (isNoop) return;
  pass.did.hasWritten = true;
  pass.did.patched.push(plan.id);
  if (live !== undefined) noteRepair(pass, { plan, intent, manager }, found);
  if (isSelf) noteOwnChange(pass, plan, { stored, found });
}

/** Of an object that several resources patch, each has its own fields. */
function managerOf({ context, key }: Given, { id, isShared }: PatchOf): string {
  return patchManagerOf(context.plan.name, id, isShared ? key : undefined);
}

/** A rendered child may be so large (definition.md section 4), and so may a patch. */
const maxBytes = 1_048_576;

/** An object that exists is patched itself, none that took its place; of one that is to be made the server knows no version. */
function guardOf(
  { isSelf }: WantedPatch,
  live: StoredObject | undefined,
): { readonly uid?: string; readonly resourceVersion?: string } {
  if (live === undefined) return { resourceVersion: '1' };
  const { uid = '', resourceVersion = '' } = live.object.metadata;
  return isSelf ? { uid, resourceVersion } : { uid };
}

/** The answer to a patch of the resource itself is no event from outside. */
async function ownPatch<Result>(
  { state }: Given,
  isSelf: boolean,
  send: () => Promise<Result>,
): Promise<Result> {
  if (!isSelf) return send();
  const { pace } = state.attempts;
  pace.isPatchingItself = true;
  try {
    return await send();
  } finally {
    pace.isPatchingItself = false;
  }
}

/** The pass that follows is one of our own making, also to what counts edits of the user. */
function noteOwnChange(
  pass: Pass,
  plan: PatchOf,
  { stored, found }: { readonly stored: StoredObject; readonly found: readonly Difference[] },
): void {
  pass.state.attempts.pace.noteOwnEdit(stored.object.metadata.generation);
  const [first] = found;
  const field = first && fieldText(fieldName(first.path), plan);
  pass.did.ownChange ??= field || 'metadata';
}

function failed(
  pass: Pass,
  wanted: WantedPatch,
  error: KubeError,
  live: StoredObject | undefined,
): Problem {
  count(pass, 'failed');
  const { plan } = wanted;
  const problem = problemOfRequest(error, { about: plan, gvk: plan.gvk });
  noteRejected(pass, wanted.intent, { problem, live });
  return problem;
}

function count({ context }: Given, result: string): void {
  context.metrics.applies.increment([context.plan.name, result]);
}
