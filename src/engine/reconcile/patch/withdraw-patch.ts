import type { PatchPlan } from '#compile';
import type { RefAt, StoredObject } from '#kube/roles.ts';
import { apiVersionOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { ownedPatchManagerOf } from '#util/stored-names.ts';
import { releaseFields } from '../child/release-fields.ts';
import { isStale } from '../child/send-intent.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { identityOf, kindAt, refTo } from '../identity.ts';
import type { Intent } from '../intent/intent.ts';
import { applyBlocker, forgetRejection, recordRejection } from '../ledger/rejections.ts';
import { isTerminating } from '../ownership-claims.ts';
import { clusterWrite, countApply, type Pass, requestError } from '../pass/pass.ts';
import { objectText, unknownOrigin } from '../secrecy.ts';
import type { PatchClaim, PatchClaims } from './patch-claims.ts';
import { maxTries, patchItself, recordOwnChange, subresourceOf } from './send-patch.ts';

/**
 * Withdraws the patches that no longer apply: what only their field managers own is removed from the objects. Returns the errors; a claim
 * whose withdrawal fails stays recorded.
 * @param patchId only those of this patch
 */
export async function withdrawUnwanted(
  pass: Pass,
  claims: PatchClaims,
  patchId?: string,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const claim of claims.unwanted()) {
    if (patchId !== undefined && claim.id !== patchId) continue;
    const plan = planOf(pass, claim.id);
    // The definition keeps its fields from now on.
    const isKept = plan?.owned?.withdraws === false;
    const problem = isKept ? undefined : await withdraw(pass, claim, plan);
    if (problem === undefined) claims.drop(claim);
    else problems.push(problem);
  }
  return problems;
}

/** The patch in the current definition, if it still has it. */
export function planOf({ context }: Pass, id: string): PatchPlan | undefined {
  return context.plan.reporting?.patches.find((each) => each.id === id);
}

async function withdraw(
  pass: Pass,
  { id, setsStatus, object: { kind, namespace, name } }: PatchClaim,
  plan: PatchPlan | undefined,
): Promise<Problem | undefined> {
  const { cluster } = pass.context;
  const isSelf = isResource(pass, { kind, namespace, name });
  // It is deleted with its fields.
  if (isSelf && isTerminating(pass.resource)) return undefined;
  const about = plan ?? unknownOrigin;
  const asProblem = (thrown: unknown): Problem => {
    const error = requestError(thrown, pass);
    const problem = problemOfRequest(error, { about, namespace });
    const what = objectText(kind.kind, name, about);
    const message = `patches.${id}: Cannot be withdrawn from ${what}: ${problem.message}`;
    return { ...problem, message };
  };
  let ref: RefAt;
  let live: StoredObject | undefined;
  try {
    const type = await cluster.findKind(kind, pass.signal);
    // A kind that is not served has no objects.
    if (type === undefined) return undefined;
    ref = refTo(kindAt(type.gvk, undefined), namespace, name);
    live = await cluster.get(ref, clusterWrite(pass), pass.signal);
  } catch (error) {
    return asProblem(error);
  }
  const manager = ownedPatchManagerOf(pass.context.plan.name, id, pass.key);
  const intent = emptyIntent(ref, `withdraw ${id}`);
  pass.findings.desiredObjects.set(intent.identity, id);
  for (let tries = 1; ; tries++) {
    // Never without an object: the apply would create it.
    if (live === undefined) return undefined;
    try {
      if (!(await owns(pass, { ref, manager, live, setsStatus }))) return undefined;
    } catch (error) {
      return asProblem(error);
    }
    const desired = { intent, plan: { secrecy: about.secrecy, type: plan?.type }, manager };
    const blocker = await applyBlocker(pass, desired, live);
    if (blocker !== undefined) return blocker;
    try {
      await applyNothing(pass, { ref, manager, live, isSelf, setsStatus });
      forgetRejection(pass, intent);
      pass.effects.patched.push(id);
      return undefined;
    } catch (thrown) {
      const error = requestError(thrown, pass);
      if (tries === maxTries || !isStale(error)) {
        countApply(pass, 'failed');
        return recordRejection(pass, intent, { error, problem: asProblem(error), live });
      }
    }
    try {
      live = await cluster.get(ref, clusterWrite(pass), pass.signal);
    } catch (error) {
      return asProblem(error);
    }
  }
}

/**
 * Has the manager applied the object, or its status? Users can write claims: without an entry of the manager, nothing is sent.
 * @throws KubeError
 */
async function owns(
  pass: Pass,
  { ref, manager, live, setsStatus }: Omit<OwnedFields, 'isSelf'>,
): Promise<boolean> {
  if (!setsStatus) return live.appliedBy.includes(manager);
  // The cache does not show managers of a status.
  const entries = await pass.context.cluster.managedFields(ref, clusterWrite(pass), pass.signal);
  return entries.some(
    (entry) =>
      entry.manager === manager && entry.operation === 'Apply' && entry.subresource === 'status',
  );
}

interface OwnedFields {
  readonly ref: RefAt;
  readonly manager: string;
  /** The object that was looked at: no other one of its name is changed, or created. */
  readonly live: StoredObject;
  readonly isSelf: boolean;
  readonly setsStatus: boolean;
}

/**
 * Applies nothing as this manager: the server removes what only it owns.
 * @throws KubeError
 */
export async function applyNothing(
  pass: Pass,
  { ref, manager, live, isSelf, setsStatus }: OwnedFields,
): Promise<StoredObject> {
  const { uid = '' } = live.object.metadata;
  const { manifest } = emptyIntent(ref, '');
  if (!setsStatus) await releaseFields(pass, { ref, manifest, manager }, live);
  const body = { ...manifest, metadata: { ...manifest.metadata, uid } };
  const options = {
    ...clusterWrite(pass, ref),
    cluster: undefined,
    fieldManager: manager,
    ...subresourceOf(setsStatus),
  };
  const { stored } = await patchItself(pass, isSelf, () =>
    pass.context.cluster.apply(body, { ...options, force: false }, pass.signal),
  );
  const isNoop = live.object.metadata.resourceVersion === stored.object.metadata.resourceVersion;
  countApply(pass, isNoop ? 'noop' : 'changed');
  if (isSelf && !isNoop) recordOwnChange(pass, unknownOrigin, { stored, found: [] });
  return stored;
}

function isResource(
  { context, resource, namespace: own }: Pass,
  { kind, namespace, name }: PatchClaim['object'],
): boolean {
  const identity = identityOf(
    kindAt(context.plan.definition.kind.gvk, undefined),
    own,
    resource.metadata.name,
  );
  return identityOf(kind, namespace, name) === identity;
}

function emptyIntent(ref: RefAt, purpose: string): Intent {
  const { gvk, namespace, name } = ref;
  const manifest: KubeObject = {
    apiVersion: apiVersionOf(gvk),
    kind: gvk.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  };
  const identity = `patch ${purpose} ${identityOf(gvk, namespace, name)}`;
  return { ref, identity, manifest, pathHash: '' };
}
