import { deepEqual } from '../../util/deep-equal.ts';
import type { Json } from '../../util/json.ts';
import { firstDifference } from './compare.ts';
import { confirmAbsent } from './confirm-absent.ts';
import { deleteFar } from './decide-deletion.ts';
import { freshRecord, type Known } from './identity.ts';
import type { ObjectPlan } from './plan.ts';
import { type ObjectRecord, withId } from './record.ts';
import { arrivalMs } from './recover.ts';
import {
  atEvent,
  atNextLook,
  later,
  settled,
  settledAsDesired,
  settledFailure,
  settledMissingId,
  settledObserved,
} from './settle.ts';
import type { Seen, Step, View } from './view.ts';

/** Updates whose effect did not last, after which a difference is called unstable. */
export const maxLostWrites = 3;

/** Compares an object that this one owns, and changes it. */
export function keep(view: View, plan: ObjectPlan, { record, identity }: Known): Step {
  const request = withId(identity.observe, identity.id);
  if (request === undefined) return settledMissingId();
  if (plan.hasOneTimeSecret) {
    const { secret } = view.seen;
    if (secret === undefined) return { kind: 'recallSecret', key: record.createdBy };
    if (secret.kind === 'lost') return handleLostSecret(view, plan, record);
  }
  const answer = view.seen.answers.observe;
  if (answer === undefined) {
    // An update that was rejected is not followed by an observation.
    const rejected = view.seen.answers.update;
    if (rejected?.kind === 'failed') return settledFailure(rejected.failure);
    return { kind: 'send', role: 'observe', request };
  }
  if (answer.kind === 'failed') return settledFailure(answer.failure);
  // It was deleted in the API: it is found or created again.
  if (answer.kind === 'absent')
    return (
      confirmAbsent(view) ??
      tooYoung(view, record) ?? { kind: 'store', record: freshRecord(view, plan, record) }
    );
  const path = differenceOf(plan, record, answer.result);
  if (path !== undefined) return update(view, plan, { record, path });
  return plan.recordsContent && !deepEqual(record.sent, plan.content)
    ? { kind: 'store', record: { ...record, sent: plan.content } }
    : settledAsDesired();
}

/** An API may return an object a while after it has created it. Until then, it is not created again. */
function tooYoung(view: View, { createdAtMs = 0 }: ObjectRecord): Step | undefined {
  const { nowMs, seen } = view;
  if (seen.isNew === true)
    return settled(
      'NotFound',
      '"observe" does not return the object that was just created or found',
      later,
    );
  const countsAtMs = arrivalMs(view, createdAtMs);
  if (nowMs >= countsAtMs) return undefined;
  return settled('NotFound', 'The API does not return the object that it has just created', {
    ...{ kind: 'after', ms: Math.min(countsAtMs - nowMs, 2_000) },
  });
}

/** The path of what is to be changed. Undefined: nothing. */
function differenceOf(
  { spec, content, recordsContent }: ObjectPlan,
  { sent }: ObjectRecord,
  result: Json | undefined,
): string | undefined {
  if (recordsContent && sent?.inputs !== content.inputs) return 'secretFields';
  if (spec.write === 'WhenChanged')
    return sent?.desired === content.desired ? undefined : 'desired';
  const skip = [...spec.ignore, ...Object.keys(spec.secretFields)];
  return firstDifference(spec.desired, result, skip);
}

function update(
  { seen, writes }: View,
  plan: ObjectPlan,
  { record, path }: { readonly record: ObjectRecord; readonly path: string },
): Step {
  const wasSent = seen.answers.update !== undefined;
  if (wasSent && plan.recordsContent && !deepEqual(record.sent, plan.content))
    return { kind: 'store', record: { ...record, sent: plan.content } };
  const template = plan.requests.update;
  if (template === undefined)
    return settledObserved(
      'Different',
      `The field "${path}" differs, and the spec has no "update"`,
      atNextLook,
    );
  const request = withId(template, record.identity?.id);
  if (request === undefined) return settledMissingId();
  if (writes.lost >= maxLostWrites && (wasSent || !writes.isDue))
    return settledObserved(
      'Unstable',
      `The field "${path}" differs again after ${maxLostWrites} updates; add it to "ignore", or set it to the value that the API keeps`,
      atNextLook,
    );
  if (wasSent)
    return settledObserved('Different', `The field "${path}" still differs after an update`, {
      ...{ kind: 'backoff', baseDelayMs: 1_000, maxDelayMs: 60_000 },
    });
  return { kind: 'send', role: 'update', request };
}

/** The answer with the values of the Secret was lost: no process has them. */
function handleLostSecret(view: View, plan: ObjectPlan, record: ObjectRecord): Step {
  // Once in a reconcile: the answer to the second create may be lost, too.
  const isRecreated = view.seen.armed !== undefined;
  if (plan.spec.onSecretLost === 'Wait' || isRecreated)
    return settled(
      'SecretLost',
      'The answer with the values of "secret" was lost; "onSecretLost: Recreate" deletes the object and creates it again',
      isRecreated ? later : atEvent,
    );
  const step = deleteFar({ ...view, seen: sinceDeletion(view.seen) }, record);
  return step.kind === 'release'
    ? { kind: 'store', record: freshRecord(view, plan, record) }
    : step;
}

/** An observation before the deletion does not confirm it. */
function sinceDeletion(seen: Seen): Seen {
  return seen.answers.delete === undefined ? { ...seen, answers: {} } : seen;
}
