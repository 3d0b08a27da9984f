import type { ChildPlan } from '#compile';
import type { KubeError, StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { fieldManagerOf } from '#util/stored-names.ts';
import { type Problem, problemOfRequest, problemOfWaiting } from '../failure.ts';
import { fieldsOf } from '../intent/difference.ts';
import { creationOf } from '../intent/left-fields.ts';
import { appliedHashOf, withIntentHash, withPathHash } from '../intent/marks.ts';
import { recordRepair } from '../ledger/ownership-conflicts.ts';
import { forgetRejection, recordRejection } from '../ledger/rejections.ts';
import { observesItself } from '../observe/observe-children.ts';
import { isChild } from '../ownership/is-child.ts';
import { entriesFor } from '../pass/inventory.ts';
import {
  clusterWrite,
  countApply,
  type ElementResult,
  type Pass,
  problemOfResource,
} from '../pass/pass.ts';
import { trackCreation } from '../removal/untracked-children.ts';
import { sendStatus } from '../resource/write-status.ts';
import { fieldTexts } from '../secrecy.ts';
import { isForeign, ownStatusOf } from '../status-fields.ts';
import {
  differencesOf,
  hashOfIntent,
  keepsIntentHash,
  rememberResponse,
} from './compare-intent.ts';
import { appliedResult, type DesiredElement, problemResult } from './element-result.ts';
import { immutableRemedy } from './immutable-remedy.ts';
import { releaseFields } from './release-fields.ts';

/** Codes that show that the cache was stale: the object is read again. */
const staleCodes: ReadonlySet<string> = new Set([
  'already-exists',
  'conflict',
  'field-conflict',
  'uid-mismatch',
  'not-found',
]);
/** Maximum size of a rendered child (docs/definition/children.md#limits): a server accepts about 1.5 MiB. */
const maxBytes = 1_048_576;
const resourceDeleted = 'The resource was deleted';

/**
 * Sends one apply: to exactly the object `live`, or one that only creates.
 * @throws KubeError
 */
export async function sendIntent(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject | undefined,
): Promise<ElementResult> {
  const { plan, intent } = desired;
  const unrecorded = await recordInInventory(pass, plan, intent.identity);
  if (unrecorded !== undefined) return problemResult(desired, unrecorded, live);
  if (live === undefined) return createObject(pass, desired);
  const found = differencesOf(pass, desired, live) ?? [];
  const body = bodyOf(pass, desired, preconditionOf(pass, plan, live));
  const { force = plan.conflicts === 'Force' } = desired;
  // Only a manifest with other fields can drop one.
  if (appliedHashOf(live.object) !== intent.pathHash) {
    const { ref, manifest } = intent;
    const manager = fieldManagerOf(pass.context.plan.name);
    await releaseFields(pass, { ref, manifest, manager, left: plan.left }, live);
  }
  const { stored } = await apply(pass, desired, { body, force });
  pass.state.untracked.delete(intent.identity);
  if (plan.isDetached) pass.findings.inventory.addCreated(intent.identity);
  rememberResponse(pass, desired, stored);
  const isNoop = live.object.metadata.resourceVersion === stored.object.metadata.resourceVersion;
  countApply(pass, isNoop ? 'noop' : 'changed');
  if (!isNoop) recordRepair(pass, desired, found);
  const fields = fieldTexts(fieldsOf(found), plan);
  return appliedResult(desired, stored, { kind: 'applied', fields });
}

/** The result of an element whose request failed. */
export function failedElement(
  pass: Pass,
  desired: DesiredElement,
  error: KubeError,
  live?: StoredObject,
): ElementResult {
  countApply(pass, 'failed');
  const { plan } = desired;
  const { gvk, namespace } = desired.intent.ref;
  const failed = problemOfRequest(error, {
    about: plan,
    gvk,
    namespace,
    place: plan.place,
    immutableRemedy: immutableRemedy(plan),
  });
  const problem = recordRejection(pass, desired.intent, { error, problem: failed, live });
  return problemResult(desired, problem, live);
}

/** Does the error only show that the cache was stale? */
export function isStale({ code, missing }: KubeError): boolean {
  return staleCodes.has(code) && missing === undefined;
}

async function createObject(pass: Pass, desired: DesiredElement): Promise<ElementResult> {
  const { plan, intent } = desired;
  const replaced = pass.state.replaced.get(intent.identity)?.stored.object;
  const created = { ...desired, intent: creationOf(plan, intent, replaced) };
  // A resourceVersion that no object has: the server creates the object, or responds with 409.
  const body = bodyOf(pass, created, { resourceVersion: '1' });
  const send = () => apply(pass, desired, { body, force: true });
  const { stored, created: isNew } = plan.isDetached
    ? await trackCreation(pass, desired, send)
    : await send();
  if (plan.isDetached) pass.findings.inventory.addCreated(intent.identity);
  rememberResponse(pass, desired, stored);
  pass.state.replaced.delete(intent.identity);
  countApply(pass, isNew ? 'created' : 'changed');
  return appliedResult(desired, stored, { kind: 'created' });
}

async function apply(
  pass: Pass,
  { intent }: DesiredElement,
  { body, force }: { readonly body: KubeObject; readonly force: boolean },
) {
  const fieldManager = fieldManagerOf(pass.context.plan.name);
  const applied = await pass.context.cluster.apply(
    body,
    {
      ...clusterWrite(pass, intent.ref),
      cluster: intent.ref.gvk.cluster,
      fieldManager,
      force,
      maxBytes,
    },
    pass.signal,
  );
  forgetRejection(pass, intent);
  return applied;
}

/** The UID of the object. Also its version if the intent depends on content of others, or if another owner may have taken it meanwhile. */
function preconditionOf(pass: Pass, plan: ChildPlan, live: StoredObject): Precondition {
  const { uid = '', resourceVersion = '' } = live.object.metadata;
  return observesItself(plan) || !isChild(pass, live) ? { uid, resourceVersion } : { uid };
}

interface Precondition {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

function bodyOf(pass: Pass, { plan, intent }: DesiredElement, guard: Precondition): KubeObject {
  const { pathHash, manifest } = intent;
  const withHash = keepsIntentHash(plan)
    ? withIntentHash(manifest, hashOfIntent(pass, intent))
    : manifest;
  const body = withPathHash(withHash, pathHash);
  return { ...body, metadata: { ...body.metadata, ...guard } };
}

/**
 * Adds an object without an owner reference to the inventory before it is created: if the process exits in between, a later process finds
 * the object. Costs a request only for unrecorded objects. The first pass of a resource records its objects with its report; until then
 * labels identify them.
 * @returns the error, if any: then the object must not be created.
 */
async function recordInInventory(
  pass: Pass,
  plan: ChildPlan,
  identity: string,
): Promise<Problem | undefined> {
  const { context, findings } = pass;
  const { inventory } = findings;
  // For kinds of `for`, the inventory was written with the finalizer.
  if (!plan.isDetached || isForeign(context.plan) || !inventory.exists) return undefined;
  if (inventory.has(identity) || inventory.written.has(identity)) return undefined;
  return pass.effects.inventoryWrites.add(identity, (identities) =>
    writeInventory(pass, identities),
  );
}

/** Writes the current status with additional inventory entries. */
async function writeInventory(
  pass: Pass,
  identities: readonly string[],
): Promise<Problem | undefined> {
  const { resource, context, findings } = pass;
  const { inventory } = findings;
  const all = [...inventory.recorded.keys(), ...inventory.written, ...identities];
  const outcome = await sendStatus(pass, {
    ...ownStatusOf(resource, context.plan),
    childInventory: entriesFor(all),
  });
  switch (outcome.kind) {
    case 'written':
      for (const identity of identities) inventory.written.add(identity);
      return undefined;
    case 'failed':
      return problemOfResource(pass, outcome.error, 'inventory');
    default:
      return problemOfWaiting([resourceDeleted], resourceDeleted);
  }
}
