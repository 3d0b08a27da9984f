import { deepEqual } from '#util/deep-equal.ts';
import type { Json } from '#util/json.ts';
import { firstDifference } from './compare.ts';
import { confirmAbsent } from './confirm-absent.ts';
import { deleteFar } from './decide-deletion.ts';
import { freshRecord, type Known } from './identity.ts';
import type { ObjectPlan } from './plan.ts';
import { type FarRequest, type ObjectRecord, withId } from './record.ts';
import { approveCreateAnnotation, arrivalMs } from './recover.ts';
import { requestText } from './request-text.ts';
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
import type { Next, Seen, Step, View } from './view.ts';

/** Updates whose effect did not last, after which a difference is called unstable. */
export const maxLostWrites = 3;

/** An object whose answer to `create` is as desired is observed soon: a wrong `observe` is noticed then. */
const atFirstLook: Next = { kind: 'look', withinMs: 10_000 };

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
    if (isCreatedAsDesired(view, plan, record))
      return settledAsDesired(record.isUnobserved ? atFirstLook : atNextLook);
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
      tooYoung(view, record) ??
      neverObserved(view, record, request) ?? {
        kind: 'store',
        record: freshRecord(view, plan, record),
      }
    );
  if (record.isUnobserved) {
    const { isUnobserved: _, ...observed } = record;
    return { kind: 'store', record: observed };
  }
  const path = differenceOf(plan, record, answer.result);
  if (path !== undefined) return update(view, plan, { record, path });
  return plan.recordsContent && !deepEqual(record.sent, plan.content)
    ? { kind: 'store', record: { ...record, sent: plan.content } }
    : settledAsDesired();
}

/** The answer to the create shows the object as desired, and nothing else is asked of an observation. */
function isCreatedAsDesired(
  { seen: { created } }: View,
  plan: ObjectPlan,
  record: ObjectRecord,
): boolean {
  const { values, ready, secret } = plan.spec;
  const isAsked = Object.keys(values).length > 0 || ready !== undefined || secret !== undefined;
  if (created === undefined || isAsked) return false;
  return differenceOf(plan, record, created) === undefined;
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

/**
 * `observe` has never returned the object that `create` made or `find` found, so it may ask for another one, and a create would make a
 * second one each time. Undefined: it has, or a user approved another create.
 */
function neverObserved(
  { approvals, endpoint }: View,
  { isUnobserved, createdBy, identity }: ObjectRecord,
  request: FarRequest,
): Step | undefined {
  if (isUnobserved === undefined) return undefined;
  const key = createdBy ?? identity?.id;
  if (key !== undefined && approvals.create === key) return undefined;
  const origin = createdBy === undefined ? '"find" found' : '"create" made';
  return settledObserved(
    'NotFound',
    `"observe" (${requestText(endpoint, request)}) never returned the object that ${origin}; correct "observe", or set the annotation "${approveCreateAnnotation}" to "${key}" to create another one`,
    atNextLook,
  );
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
