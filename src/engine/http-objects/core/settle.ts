import { type Failure, failureDelays } from './answer.ts';
import { requestText } from './request-text.ts';
import { type Blocked, isBlocked, type Next, type Step, type View } from './view.ts';

/** Without an event: after 1 s to 10 min. */
export const later: Next = { kind: 'backoff', ...failureDelays.later };
/** At the next scheduled observation. */
export const atNextLook: Next = { kind: 'look' };
/** Only after a change. */
export const atEvent: Next = { kind: 'event' };

/** The object is as desired. */
export function settledAsDesired(next: Next = atNextLook): Step {
  const synced = { status: 'True', reason: 'AsDesired', message: '' } as const;
  return { kind: 'settle', state: { synced, next, isObserved: true } };
}

/** It differs, or does not exist: the last observation shows it. */
export function settledObserved(reason: string, message: string, next: Next): Step {
  const synced = { status: 'False', reason, message } as const;
  return { kind: 'settle', state: { synced, next, isObserved: true } };
}

/** Nothing can be done now, and the last observation may be stale. */
export function settled(reason: string, message: string, next: Next): Step {
  const synced = { status: 'False', reason, message } as const;
  return { kind: 'settle', state: { synced, next, isObserved: false } };
}

export function settledBlocked({ reason, message }: Blocked): Step {
  return settled(reason, message, atEvent);
}

export function settledFailure(failure: Failure): Step {
  const { reason, message, retryAfterMs } = failure;
  const delays = failureDelays[failure.class];
  if (retryAfterMs === undefined) return settled(reason, message, { kind: 'backoff', ...delays });
  return settled(reason, message, {
    kind: 'after',
    ms: Math.max(retryAfterMs, delays.baseDelayMs),
  });
}

export function settledSeveral(count: number): Step {
  return settled(
    'Conflict',
    `Expected one object that matches, found ${count}: make "match" more specific`,
    later,
  );
}

/** Another HttpObject has the object. */
export function settledManaged(owner: string): Step {
  return settled('Conflict', `HttpObject "${owner}" manages the same object`, later);
}

/** The code in `id` gives nothing for an answer. `plan` may be blocked. */
export function settledMissingCode({ plan, endpoint }: View, role: 'find' | 'create'): Step {
  const id = isBlocked(plan) ? undefined : plan.spec.id;
  if (isBlocked(plan) || id === undefined) return settledMissingId();
  const [root, ...path] = id.plainPath ?? [];
  const field = root === 'body' ? path.at(-1) : undefined;
  const { create } = plan.requests;
  const what =
    role === 'find'
      ? `the object that "find" found${field === undefined ? '' : `; use $(result.${field})`}`
      : `the answer to "create"${create ? ` (${requestText(endpoint, create)})` : ''}`;
  return settled('IdMissing', `"id" $(${id.source}) gives no id for ${what}`, later);
}

export function settledMissingId(): Step {
  return settled(
    'IdMissing',
    'Expected an id in the answer that can be a part of a path, found none',
    later,
  );
}
