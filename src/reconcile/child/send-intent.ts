import type { ChildPlan } from '../../compile/index.ts';
import type { KubeError, StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { noteRejected } from '../attempt/limiter.ts';
import { noteRepair } from '../attempt/ownership-conflicts.ts';
import { problemOfRequest } from '../failure.ts';
import { fieldsOf } from '../intent/difference.ts';
import { noted, stamped } from '../intent/marks.ts';
import { fieldManagerOf } from '../names.ts';
import { observesItself } from '../observe/observe-children.ts';
import { isChild } from '../ownership/is-child.ts';
import { type ElementResult, type Pass, worldWrite } from '../pass/pass.ts';
import { creating } from '../removal/strays.ts';
import { recordAhead } from '../resource/record-ahead.ts';
import { fieldTexts } from '../secrecy.ts';
import { compareIntent, hashOfIntent, keepsIntentHash, rememberAnswer } from './compare-intent.ts';
import { hinderedElement, settledElement, type WantedElement } from './element-result.ts';

/** Codes that mean: the object is not the one we thought of. Read it and go on. */
const staleCodes: ReadonlySet<string> = new Set([
  'already-exists',
  'conflict',
  'field-conflict',
  'uid-mismatch',
  'not-found',
]);
/** A rendered child may be so large (definition.md section 4): a server takes about 1.5 MiB. */
const maxBytes = 1_048_576;

/**
 * Sends one apply: to the very object that is `live`, or one that only creates.
 * @throws KubeError
 */
export async function sendIntent(
  pass: Pass,
  wanted: WantedElement,
  live: StoredObject | undefined,
): Promise<ElementResult> {
  const { plan, intent } = wanted;
  const unrecorded = await recordAhead(pass, plan, intent.identity);
  if (unrecorded !== undefined) return hinderedElement(wanted, unrecorded, live);
  if (live === undefined) return createObject(pass, wanted);
  const comparison = compareIntent(pass, { plan, intent, live });
  const found = comparison.kind === 'different' ? comparison.found : [];
  const body = bodyOf(pass, wanted, guardOf(pass, plan, live));
  const { force = plan.conflicts === 'Force' } = wanted;
  const { stored } = await apply(pass, body, { force });
  pass.state.strays.delete(intent.identity);
  if (plan.isDetached) pass.found.inventory.noteMade(intent.identity);
  rememberAnswer(pass, { plan, intent, live: stored });
  const isNoop = live.object.metadata.resourceVersion === stored.object.metadata.resourceVersion;
  count(pass, isNoop ? 'noop' : 'changed');
  if (!isNoop) noteRepair(pass, wanted, found);
  return settledElement(
    wanted,
    { kind: 'applied', fields: fieldTexts(fieldsOf(found), plan) },
    stored,
  );
}

/** An element whose request failed. */
export function failedElement(
  pass: Pass,
  wanted: WantedElement,
  error: KubeError,
  live?: StoredObject,
): ElementResult {
  count(pass, 'failed');
  const { plan } = wanted;
  const problem = problemOfRequest(error, { about: plan, gvk: plan.gvk });
  noteRejected(pass, wanted.intent, { problem, live });
  return hinderedElement(wanted, problem, live);
}

/** Does the error only say that the cache was behind? */
export function isStale(error: KubeError): boolean {
  return staleCodes.has(error.code);
}

async function createObject(pass: Pass, wanted: WantedElement): Promise<ElementResult> {
  const { plan, intent } = wanted;
  // A version that no object has: the server creates, or answers 409 (engine.md section 5, step 4).
  const body = bodyOf(pass, wanted, { resourceVersion: '1' });
  const send = () => apply(pass, body, { force: true });
  const { stored, created } = plan.isDetached ? await creating(pass, wanted, send) : await send();
  if (plan.isDetached) pass.found.inventory.noteMade(intent.identity);
  rememberAnswer(pass, { plan, intent, live: stored });
  pass.state.replaced.delete(intent.identity);
  count(pass, created ? 'created' : 'changed');
  return settledElement(wanted, { kind: 'created' }, stored);
}

function apply(pass: Pass, body: KubeObject, { force }: { readonly force: boolean }) {
  const fieldManager = fieldManagerOf(pass.context.plan.name);
  return pass.context.cluster.apply(
    body,
    { ...worldWrite(pass), fieldManager, force, maxBytes },
    pass.signal,
  );
}

/** The very object; and as it is, where the intent was made of what somebody else has there, or nobody may have taken it meanwhile. */
function guardOf(pass: Pass, plan: ChildPlan, live: StoredObject): Guard {
  const { uid = '', resourceVersion = '' } = live.object.metadata;
  return observesItself(plan) || !isChild(pass, live) ? { uid, resourceVersion } : { uid };
}

interface Guard {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

function bodyOf(pass: Pass, { plan, intent }: WantedElement, guard: Guard): KubeObject {
  const { pathHash, manifest } = intent;
  const said = keepsIntentHash(plan) ? noted(manifest, hashOfIntent(pass, intent)) : manifest;
  const body = stamped(said, pathHash);
  return { ...body, metadata: { ...body.metadata, ...guard } };
}

function count({ context, did }: Pass, result: string): void {
  if (result === 'created' || result === 'changed') did.hasWritten = true;
  context.metrics.applies.increment([context.plan.name, result]);
}
