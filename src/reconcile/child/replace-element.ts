import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { mayReplace } from '../attempt/limiter.ts';
import { type ElementResult, type Pass, worldWrite } from '../pass/pass.ts';
import { type Leave, mayGo } from '../removal/leaving.ts';
import { objectText } from '../secrecy.ts';
import { hashOfIntent, hasNewIntent } from './compare-intent.ts';
import { hinderedElement, type WantedElement } from './element-result.ts';
import { leavingResult } from './in-the-way.ts';
import { failedElement } from './send-intent.ts';

/** Is the object, which is ours, one of another intent, so that it is made anew (`updateStrategy: Recreate`)? */
export function isOutdated(pass: Pass, wanted: WantedElement, live: StoredObject): boolean {
  return wanted.plan.updateStrategy.type === 'Recreate' && hasNewIntent(pass, wanted, live);
}

/** May an object of ours be made anew because the server does not let a field of it change? */
export function mayReplaceImmutable(
  pass: Pass,
  { plan, intent }: WantedElement,
  { error, live }: { readonly error: KubeError; readonly live: StoredObject },
): boolean {
  if (plan.updateStrategy.type !== 'Recreate' || error.immutableFields.length === 0) return false;
  return mayReplace(pass, { intent, intentHash: hashOfIntent(pass, intent), live });
}

/** Its child says when it may go (`deleteWhen`), and does not say so now. */
function stayingResult(
  wanted: WantedElement,
  live: StoredObject,
  leave: Exclude<Leave, { kind: 'granted' }>,
): ElementResult {
  if (leave.kind === 'failed') return hinderedElement(wanted, leave.problem, live);
  const { kind, metadata } = live.object;
  const on = `the leave to replace ${objectText(kind, metadata.name, wanted.plan)}`;
  const message = `Its replacement waits: it ${leave.message}`;
  const problem = {
    reason: 'Waiting',
    message,
    code: 'waiting',
    kind: 'waiting',
    on: [on],
  } as const;
  return hinderedElement(wanted, problem, live);
}

/** Deletes the object that is to be made anew. Undefined: it is gone. */
export async function removeOutdated(
  pass: Pass,
  wanted: WantedElement,
  live: StoredObject,
): Promise<ElementResult | undefined> {
  const { intent, plan } = wanted;
  const { uid = '' } = live.object.metadata;
  const leave = await mayGo(pass, live);
  if (leave.kind !== 'granted') return stayingResult(wanted, live, leave);
  try {
    const answer = await pass.context.cluster.delete(
      intent.ref,
      { ...worldWrite(pass), uid },
      pass.signal,
    );
    pass.did.hasWritten = true;
    pass.state.attempts.serverMade.delete(intent.topic);
    // What expressions have seen of it they see until there is a new one: a password goes over to it.
    pass.state.replaced.set(intent.identity, { childId: plan.id, stored: live });
    return answer === 'deleting' ? leavingResult(pass, wanted, live) : undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    // Another object has its name by now: the one that was to go is gone.
    if (error.code === 'uid-mismatch') return undefined;
    return failedElement(pass, wanted, error, live);
  }
}
