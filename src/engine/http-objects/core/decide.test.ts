import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import type { ObjectMeta } from '#util/kube-object.ts';
import {
  apiUrl,
  codeParser,
  httpObject,
  queueSpec,
  recordSpec,
} from '../../../../test/support/http-objects/test-objects.ts';
import { decodeObject } from '../spec/object-spec.ts';
import { type Answer, type Failure, failureOf, type Role } from './answer.ts';
import { decide } from './decide.ts';
import { type ObjectPlan, planOf } from './plan.ts';
import type { ObjectRecord } from './record.ts';
import { isBlocked, type Seen, type Step, type View } from './view.ts';

const metadata: ObjectMeta = { name: 'www', namespace: 'shop', uid: 'uid-1', generation: 1 };
const endpoint = {
  uid: 'e-1',
  location: apiUrl,
  isTerminating: false,
  checkPath: undefined,
  timeoutMs: 10_000,
  blocked: undefined,
};
const parser = codeParser();

function plan(spec: JsonObject): ObjectPlan {
  const decoded = decodeObject(httpObject(spec), parser);
  assert.deepEqual(
    decoded.problems.filter(({ severity }) => severity === 'error'),
    [],
  );
  assert.ok(decoded.spec);
  const created = planOf(decoded.spec, metadata, ['v1']);
  assert.ok(!isBlocked(created), JSON.stringify(created));
  return created;
}

const byId = plan(recordSpec);
const byPath = plan(queueSpec);
/** Nothing finds what its create made. */
const lonely = (() => {
  const { find: _, ...spec } = recordSpec;
  return plan(spec);
})();

function identityOf(
  { params, requests: { observe, find, delete: remove } }: ObjectPlan,
  id?: string,
) {
  return {
    ...{ location: apiUrl, endpointUid: 'e-1', params, observe },
    ...(find && { find }),
    ...(remove && { delete: remove }),
    ...(id !== undefined && { id }),
  };
}

function known(of: ObjectPlan, more: Partial<ObjectRecord> = {}, id?: string): ObjectRecord {
  return { identity: identityOf(of, id), ...more };
}

const owned = (of: ObjectPlan, more: Partial<ObjectRecord> = {}) =>
  known(of, { isOwned: true, ...more }, of.needsId ? 'r1' : undefined);

/** Created, but no observation has returned it. */
const neverObserved = (of: ObjectPlan, more: Partial<ObjectRecord> = {}) =>
  owned(of, { createdBy: 'k1', isUnobserved: true, ...more });

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const pendingSince = (agoMs: number, more = {}) => ({ key: 'k1', sinceMs: nowMs - agoMs, ...more });

function view(
  of: ObjectPlan,
  more: Partial<View> & { readonly answers?: Seen['answers'] } = {},
): View {
  const { answers, ...others } = more;
  return {
    ...{ metadata, endpoint, plan: of, nowMs },
    approvals: { endpoint: undefined, id: undefined, create: undefined, givesUp: false },
    deletion: { policy: 'Delete', whenGone: 'Wait' },
    record: known(of),
    writes: { lost: 0, isDue: false },
    seen: { answers: answers ?? {} },
    lostAtMs: 0,
    conflictOf: () => undefined,
    ownerOf: () => undefined,
    ...others,
  };
}

const deleting: ObjectMeta = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
const failed = (failure: Partial<Failure>): Answer => ({
  kind: 'failed',
  failure: { class: 'soon', reason: 'X', message: 'm', mayHaveArrived: false, ...failure },
});
const status = (code: number): Answer => ({
  kind: 'failed',
  failure: failureOf(code, { message: 'm' }),
});
const lost = failed({ reason: 'ConnectionLost', mayHaveArrived: true });
const none: Answer = { kind: 'ok', status: 200, found: [] };
const foundOne: Answer = { kind: 'ok', status: 200, found: [{ id: 'r1', result: {} }] };
const absent: Answer = { kind: 'absent', status: 404 };
const equalRecord: Answer = {
  kind: 'ok',
  status: 200,
  result: { id: 'r1', name: 'www', content: '192.0.2.1' },
};
const equalQueue: Answer = { kind: 'ok', status: 200, result: { durable: true, limit: 10 } };

/** A step, as a short text. */
function text(step: Step): string {
  switch (step.kind) {
    case 'send':
      return `send ${step.role} ${step.request.method} ${step.request.path}`;
    case 'store': {
      const { identity, isOwned, pending, sent } = step.record;
      const parts = [
        identity?.id === undefined ? '' : `id=${identity.id}`,
        isOwned ? 'owned' : '',
        pending ? `pending${pending.nones ? ` nones=${pending.nones}` : ''}` : '',
        sent ? 'sent' : '',
        step.record.isUnobserved ? 'unobserved' : '',
        identity?.location === apiUrl ? '' : `at ${identity?.location}`,
      ];
      return ['store', ...parts.filter((part) => part !== '')].join(' ');
    }
    case 'release':
      return `release: ${step.note}`;
    case 'settle': {
      const { synced, next } = step.state;
      const when =
        next.kind === 'after'
          ? `after ${next.ms}`
          : next.kind === 'backoff'
            ? `backoff ${next.baseDelayMs}-${next.maxDelayMs}`
            : next.kind;
      return `settle ${synced.reason} ${when}`;
    }
    default:
      return step.kind;
  }
}

type Row = readonly [string, View, string];

const moved = { ...endpoint, location: 'http://other.shop.svc' };
const rows: Readonly<Record<string, readonly Row[]>> = {
  identity: [
    [
      'the resolved requests are stored before anything is sent',
      view(byId, { record: {} }),
      'store',
    ],
    [
      'a damaged record sends nothing',
      view(byId, { record: undefined }),
      'settle RecordDamaged event',
    ],
    ['the id is looked for', view(byId), 'send find GET /zones/z1/records'],
    ['a named object is observed', view(byPath), 'send observe GET /queues/orders'],
  ],
  'a lost answer to create': [
    [
      'the create is stored as pending before it is sent',
      view(byId, { answers: { find: none } }),
      'store pending',
    ],
    [
      'it is sent by the reconcile that has stored it',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        seen: { answers: {}, armed: 'k1' },
      }),
      'send create POST /zones/z1/records',
    ],
    [
      'another reconcile asks first',
      view(byId, { record: known(byId, { pending: pendingSince(0) }) }),
      'send find GET /zones/z1/records',
    ],
    [
      'a lost answer keeps it pending',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        seen: { answers: { create: lost }, armed: 'k1' },
      }),
      'settle ConnectionLost backoff 200-120000',
    ],
    [
      'a 5xx keeps it pending',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        seen: { answers: { create: status(500) }, armed: 'k1' },
      }),
      'settle ServerError backoff 200-120000',
    ],
    [
      'what was not sent is no longer pending',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        seen: { answers: { create: failed({}) }, armed: 'k1' },
      }),
      'store',
    ],
    [
      'a rejected PUT stays pending while an earlier one, whose answer was lost, can arrive',
      view(byPath, {
        record: known(byPath, { pending: pendingSince(0), creates: 2 }),
        lostAtMs: nowMs - 39_000,
        seen: { answers: { create: status(404) }, armed: 'k1' },
      }),
      'settle Rejected backoff 1000-600000',
    ],
    [
      'and not after that',
      view(byPath, {
        record: known(byPath, { pending: pendingSince(0), creates: 2 }),
        lostAtMs: nowMs - 40_000,
        seen: { answers: { create: status(404) }, armed: 'k1' },
      }),
      'store',
    ],
    [
      'the first one that is rejected is no longer pending',
      view(byPath, {
        record: known(byPath, { pending: pendingSince(0), creates: 1 }),
        lostAtMs: nowMs,
        seen: { answers: { create: status(404) }, armed: 'k1' },
      }),
      'store',
    ],
    [
      'one that is found is ours, also without "adopt"',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        answers: { find: foundOne },
      }),
      'store id=r1 owned unobserved',
    ],
    [
      'several are a conflict',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        answers: {
          find: {
            ...foundOne,
            found: [
              { id: 'a', result: {} },
              { id: 'b', result: {} },
            ],
          } as Answer,
        },
      }),
      'settle Conflict backoff 1000-600000',
    ],
    [
      '"none" does not count while the request can arrive',
      view(byId, {
        record: known(byId, { pending: pendingSince(5_000) }),
        answers: { find: none },
      }),
      'settle CreatePending after 35000',
    ],
    [
      'also when it was sent long after it was stored, because it had to wait for its turn',
      view(byId, {
        record: known(byId, { pending: pendingSince(300_000) }),
        lostAtMs: nowMs - 5_000,
        answers: { find: none },
      }),
      'settle CreatePending after 25000',
    ],
    [
      'the first "none" after it is stored',
      view(byId, {
        record: known(byId, { pending: pendingSince(40_000) }),
        answers: { find: none },
      }),
      'store pending nones=1',
    ],
    [
      'a second one is asked for later',
      view(byId, {
        record: known(byId, {
          pending: pendingSince(41_000, { nones: 1, noneAtMs: nowMs - 1_000 }),
        }),
        answers: { find: none },
      }),
      'settle CreatePending after 4000',
    ],
    [
      'and counts',
      view(byId, {
        record: known(byId, {
          pending: pendingSince(60_000, { nones: 1, noneAtMs: nowMs - 5_000 }),
        }),
        answers: { find: none },
      }),
      'store',
    ],
    [
      'a named one is observed',
      view(byPath, { record: known(byPath, { pending: pendingSince(0) }) }),
      'send observe GET /queues/orders',
    ],
    [
      'a repeated PUT has the same result, so one answer counts',
      view(byPath, {
        record: known(byPath, { pending: pendingSince(0) }),
        answers: { observe: absent },
      }),
      'store',
    ],
    [
      'without "find" and a name it is unknown',
      view(lonely, { record: known(lonely, { pending: pendingSince(60_000) }) }),
      'settle CreateUnknown event',
    ],
    [
      'an annotation names the id',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        approvals: { endpoint: undefined, id: 'r9', create: undefined, givesUp: false },
      }),
      'store id=r9 owned unobserved',
    ],
    [
      'an annotation approves another create',
      view(byId, {
        record: known(byId, { pending: pendingSince(60_000) }),
        approvals: { endpoint: undefined, id: undefined, create: 'k1', givesUp: false },
      }),
      'store',
    ],
    [
      'but not while the first one can arrive',
      view(byId, {
        record: known(byId, { pending: pendingSince(39_000) }),
        approvals: { endpoint: undefined, id: undefined, create: 'k1', givesUp: false },
      }),
      'settle CreatePending after 1000',
    ],
    [
      'an approval of an earlier one does not',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        approvals: { endpoint: undefined, id: undefined, create: 'k0', givesUp: false },
      }),
      'send find GET /zones/z1/records',
    ],
    [
      'a created one without an id stays pending',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        seen: { answers: { create: { kind: 'ok', status: 201 } }, armed: 'k1' },
      }),
      'settle IdMissing backoff 1000-600000',
    ],
  ],
  '409 on create': [
    [
      'it is no longer pending',
      view(byId, {
        record: known(byId, { pending: pendingSince(0) }),
        seen: { answers: { create: status(409) }, armed: 'k1' },
      }),
      'store',
    ],
    [
      'it is looked for',
      view(byId, { answers: { create: status(409) } }),
      'send find GET /zones/z1/records',
    ],
    [
      'found without "adopt" it is a conflict',
      view(byId, { answers: { create: status(409), find: foundOne } }),
      'settle Conflict backoff 1000-600000',
    ],
    [
      'not found it is a conflict, and no other create',
      view(byId, { answers: { create: status(409), find: none } }),
      'settle Conflict backoff 1000-600000',
    ],
    [
      'with "adopt" it is taken over',
      view(plan({ ...recordSpec, adopt: 'IfFound' }), {
        answers: { create: status(409), find: foundOne },
      }),
      'store id=r1 owned unobserved',
    ],
  ],
  find: [
    [
      'one is not adopted',
      view(byId, { answers: { find: foundOne } }),
      'settle Conflict backoff 1000-600000',
    ],
    [
      'one is adopted',
      view(plan({ ...recordSpec, adopt: 'IfFound' }), { answers: { find: foundOne } }),
      'store id=r1 owned unobserved',
    ],
    [
      'several are a conflict',
      view(plan({ ...recordSpec, adopt: 'IfFound' }), {
        answers: {
          find: {
            ...foundOne,
            found: [
              { id: 'a', result: {} },
              { id: 'b', result: {} },
            ],
          } as Answer,
        },
      }),
      'settle Conflict backoff 1000-600000',
    ],
    [
      'a failure creates nothing',
      view(byId, { answers: { find: status(500) } }),
      'settle ServerError backoff 200-120000',
    ],
  ],
  'other failures': [
    [
      'rejected connection',
      view(byPath, { answers: { observe: failed({}) } }),
      'settle X backoff 200-120000',
    ],
    [
      '429 with Retry-After',
      view(byPath, { answers: { observe: failed({ status: 429, retryAfterMs: 7_000 }) } }),
      'settle X after 7000',
    ],
    [
      '503',
      view(byPath, { answers: { observe: status(503) } }),
      'settle ServerError backoff 200-120000',
    ],
    ...[404, 409, 422, 423].map(
      (code): Row => [
        `${code} of an update`,
        view(byPath, { record: owned(byPath), answers: { update: status(code) } }),
        `settle ${code === 409 || code === 423 ? 'Conflict' : 'Rejected'} backoff 1000-600000`,
      ],
    ),
    ...[400, 401, 403].map(
      (code): Row => [
        `${code}`,
        view(byPath, { answers: { observe: status(code) } }),
        `settle ${code === 400 ? 'Rejected' : 'Unauthorized'} backoff 600000-600000`,
      ],
    ),
    [
      'a rejected create is not pending',
      view(byPath, { answers: { create: status(422) } }),
      'settle Rejected backoff 1000-600000',
    ],
  ],
  'the endpoint is another one': [
    [
      'another URL sends nothing',
      view(byPath, { record: owned(byPath), endpoint: moved }),
      'settle EndpointChanged event',
    ],
    [
      'another UID sends nothing',
      view(byPath, { record: owned(byPath), endpoint: { ...endpoint, uid: 'e-2' } }),
      'settle EndpointChanged event',
    ],
    [
      'also at deletion',
      view(byPath, { record: owned(byPath), endpoint: moved, metadata: deleting }),
      'settle EndpointChanged event',
    ],
    [
      'an approval names it',
      view(byPath, {
        record: owned(byPath),
        endpoint: moved,
        approvals: {
          endpoint: 'http://other.shop.svc e-1',
          id: undefined,
          create: undefined,
          givesUp: false,
        },
      }),
      'store owned at http://other.shop.svc',
    ],
    [
      'a missing one',
      view(byPath, { record: owned(byPath), endpoint: undefined }),
      'settle EndpointMissing event',
    ],
    [
      'one that is being deleted',
      view(byPath, { record: owned(byPath), endpoint: { ...endpoint, isTerminating: true } }),
      'settle EndpointTerminating event',
    ],
  ],
  'an edit changes identity': [
    [
      'it is held',
      view(plan({ ...queueSpec, params: { name: 'other' } }), { record: owned(byPath) }),
      'settle IdentityChanged event',
    ],
    [
      'with Replace the previous one is deleted first',
      view(plan({ ...queueSpec, params: { name: 'other' }, onIdentityChange: 'Replace' }), {
        record: owned(byPath),
      }),
      'send delete DELETE /queues/orders',
    ],
    [
      'its deletion is confirmed',
      view(plan({ ...queueSpec, params: { name: 'other' }, onIdentityChange: 'Replace' }), {
        record: owned(byPath),
        answers: { delete: { kind: 'ok', status: 204 } },
      }),
      'send observe GET /queues/orders',
    ],
    [
      'then the new identity is stored',
      view(plan({ ...queueSpec, params: { name: 'other' }, onIdentityChange: 'Replace' }), {
        record: owned(byPath),
        answers: { delete: { kind: 'ok', status: 204 }, observe: absent },
      }),
      'store',
    ],
    [
      'without an object it is free',
      view(plan({ ...queueSpec, params: { name: 'other' } }), { record: known(byPath) }),
      'store',
    ],
  ],
  'a one-time secret': [
    [
      'the Secret is prepared first',
      view(withSecret(), { record: known(withSecret()), answers: { find: none } }),
      'prepareSecret',
    ],
    [
      'then the create is pending',
      view(withSecret(), {
        record: known(withSecret()),
        seen: { answers: { find: none }, isSecretPrepared: true },
      }),
      'store pending',
    ],
    [
      'the values are stored before the object',
      view(withSecret(), {
        record: known(withSecret(), { pending: pendingSince(0) }),
        seen: { answers: { create: { kind: 'ok', status: 201, id: 'r1' } }, armed: 'k1' },
      }),
      'storeSecret',
    ],
    [
      'then the object',
      view(withSecret(), {
        record: known(withSecret(), { pending: pendingSince(0) }),
        seen: {
          answers: { create: { kind: 'ok', status: 201, id: 'r1' } },
          armed: 'k1',
          secret: { kind: 'stored', id: 'r1' },
        },
      }),
      'store id=r1 owned unobserved',
    ],
    [
      'a recovery asks the Secret first',
      view(withSecret(), { record: known(withSecret(), { pending: pendingSince(0) }) }),
      'recallSecret',
    ],
    [
      'which has the id',
      view(withSecret(), {
        record: known(withSecret(), { pending: pendingSince(0) }),
        seen: { answers: {}, secret: { kind: 'stored', id: 'r1' } },
      }),
      'store id=r1 owned unobserved',
    ],
    [
      'without the values they are lost',
      view(withSecret(), {
        record: known(withSecret(), { pending: pendingSince(0) }),
        seen: { answers: { find: foundOne }, secret: { kind: 'lost' } },
      }),
      'store id=r1 owned unobserved',
    ],
    [
      'an owned one is compared with the Secret',
      view(withSecret(), { record: owned(withSecret()) }),
      'recallSecret',
    ],
    [
      'SecretLost waits',
      view(withSecret(), {
        record: owned(withSecret()),
        seen: { answers: {}, secret: { kind: 'lost' } },
      }),
      'settle SecretLost event',
    ],
    [
      'Recreate deletes it',
      view(withSecret('Recreate'), {
        record: owned(withSecret()),
        seen: { answers: {}, secret: { kind: 'lost' } },
      }),
      'send delete DELETE /zones/z1/records/r1',
    ],
    [
      'and creates it again',
      view(withSecret('Recreate'), {
        record: owned(withSecret()),
        seen: {
          answers: { delete: { kind: 'ok', status: 204 }, observe: absent },
          secret: { kind: 'lost' },
        },
      }),
      'store',
    ],
    [
      'but once in a reconcile',
      view(withSecret('Recreate'), {
        record: owned(withSecret()),
        seen: { answers: {}, armed: 'k1', secret: { kind: 'lost' } },
      }),
      'settle SecretLost backoff 1000-600000',
    ],
  ],
  deletion: [
    ['nothing was created', view(byPath, { metadata: deleting }), 'release: Nothing to delete'],
    [
      'it is deleted',
      view(byId, { metadata: deleting, record: owned(byId) }),
      'send delete DELETE /zones/z1/records/r1',
    ],
    [
      'and observed',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        answers: { delete: { kind: 'ok', status: 204 } },
      }),
      'send observe GET /zones/z1/records/r1',
    ],
    [
      'until it is absent',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        answers: { delete: { kind: 'ok', status: 202 }, observe: equalRecord },
      }),
      'settle Deleting backoff 1000-600000',
    ],
    [
      'a check comes first',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        endpoint: { ...endpoint, checkPath: '/health' },
        answers: { delete: { kind: 'ok', status: 204 }, observe: absent },
      }),
      'send check GET /health',
    ],
    [
      'a check that fails confirms nothing',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        endpoint: { ...endpoint, checkPath: '/health' },
        answers: { delete: { kind: 'ok', status: 204 }, observe: absent, check: status(503) },
      }),
      'settle CheckFailed backoff 200-120000',
    ],
    [
      'then it is released',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        answers: { delete: { kind: 'ok', status: 204 }, observe: absent },
      }),
      'release: Deleted',
    ],
    [
      'a lost PUT can create it again, so its arrival is awaited',
      view(byPath, {
        ...{ metadata: deleting, record: owned(byPath), lostAtMs: nowMs - 39_000 },
        answers: { delete: { kind: 'ok', status: 204 }, observe: absent },
      }),
      'settle Deleting after 1000',
    ],
    [
      'a failed delete is retried',
      view(byId, { metadata: deleting, record: owned(byId), answers: { delete: status(500) } }),
      'settle DeleteFailed backoff 200-120000',
    ],
    [
      'Orphan keeps it',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        deletion: { policy: 'Orphan', whenGone: 'Wait' },
      }),
      'release: Orphaned',
    ],
    [
      'a missing endpoint waits',
      view(byId, { metadata: deleting, record: owned(byId), endpoint: undefined }),
      'settle EndpointMissing event',
    ],
    [
      'or is released',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        endpoint: undefined,
        deletion: { policy: 'Delete', whenGone: 'Orphan' },
      }),
      'release: Orphaned: the endpoint is missing',
    ],
    [
      'missing credentials, too',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        endpoint: { ...endpoint, blocked: { reason: 'ValueMissing', message: 'm', isGone: true } },
        deletion: { policy: 'Delete', whenGone: 'Orphan' },
      }),
      'release: Orphaned: the endpoint is missing',
    ],
    [
      'give-up releases',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        approvals: { endpoint: undefined, id: undefined, create: undefined, givesUp: true },
      }),
      'release: Given up',
    ],
    [
      'an endpoint that is being deleted serves it',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        endpoint: { ...endpoint, isTerminating: true },
      }),
      'send delete DELETE /zones/z1/records/r1',
    ],
    [
      'an unknown create waits for its user',
      view(lonely, {
        metadata: deleting,
        record: known(lonely, { pending: pendingSince(600_000) }),
      }),
      'settle CreateUnknown event',
    ],
    [
      'but not for ever while its namespace is deleted',
      view(lonely, {
        metadata: deleting,
        record: known(lonely, { pending: pendingSince(600_000) }),
        deletion: { policy: 'Delete', whenGone: 'Orphan', untilMs: nowMs + 60_000 },
      }),
      'settle CreateUnknown after 60000',
    ],
    [
      'while its namespace is deleted, an API that does not answer is waited for',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        answers: { delete: failed({ reason: 'Unreachable' }) },
        deletion: { policy: 'Delete', whenGone: 'Orphan', untilMs: nowMs + 60_000 },
      }),
      'settle DeleteFailed backoff 200-120000',
    ],
    [
      'and then not any more',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        answers: { delete: failed({ reason: 'Unreachable' }) },
        deletion: { policy: 'Delete', whenGone: 'Orphan', untilMs: nowMs },
      }),
      'release: Orphaned while the namespace is deleted: DeleteFailed',
    ],
    [
      'it is asked once more before that',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        deletion: { policy: 'Delete', whenGone: 'Orphan', untilMs: nowMs - 60_000 },
      }),
      'send delete DELETE /zones/z1/records/r1',
    ],
    [
      'a damaged record does not hold a namespace',
      view(byId, {
        metadata: deleting,
        record: undefined,
        deletion: { policy: 'Delete', whenGone: 'Orphan', untilMs: nowMs },
      }),
      'release: Orphaned while the namespace is deleted: RecordDamaged',
    ],
    [
      'an invalid spec does not matter',
      view(byId, {
        metadata: deleting,
        record: owned(byId),
        plan: { reason: 'Invalid', message: 'm' },
      }),
      'send delete DELETE /zones/z1/records/r1',
    ],
    [
      'a pending create is found first',
      view(byId, { metadata: deleting, record: known(byId, { pending: pendingSince(0) }) }),
      'send find GET /zones/z1/records',
    ],
    [
      'a pending PUT can still arrive, so one "none" does not count',
      view(byPath, {
        metadata: deleting,
        record: known(byPath, { pending: pendingSince(5_000) }),
        answers: { observe: absent },
      }),
      'settle CreatePending after 35000',
    ],
  ],
  'two objects for one far object': [
    [
      'the later one is a conflict',
      view(byPath, { conflictOf: () => 'shop/other' }),
      'settle Conflict backoff 1000-600000',
    ],
    [
      'also after it was adopted',
      view(byPath, { record: owned(byPath), conflictOf: () => 'shop/other' }),
      'settle Conflict backoff 1000-600000',
    ],
    [
      'its deletion deletes nothing',
      view(byPath, { metadata: deleting, record: owned(byPath), conflictOf: () => 'shop/other' }),
      'release: HttpObject "shop/other" manages it',
    ],
  ],
  comparison: [
    [
      'an equal one is left',
      view(byPath, { record: owned(byPath), answers: { observe: equalQueue } }),
      'settle AsDesired look',
    ],
    [
      'another one is updated',
      view(byPath, {
        record: owned(byPath),
        answers: { observe: { kind: 'ok', status: 200, result: { durable: true, limit: 3 } } },
      }),
      'send update PUT /queues/orders',
    ],
    [
      'and observed again',
      view(byPath, { record: owned(byPath), answers: { update: { kind: 'ok', status: 200 } } }),
      'send observe GET /queues/orders',
    ],
    [
      'a difference that stays is retried later',
      view(byPath, {
        record: owned(byPath),
        writes: { lost: 1, isDue: false },
        answers: {
          update: { kind: 'ok', status: 200 },
          observe: { kind: 'ok', status: 200, result: {} },
        },
      }),
      'settle Different backoff 1000-60000',
    ],
    [
      'after three writes it is unstable',
      view(byPath, {
        record: owned(byPath),
        writes: { lost: 3, isDue: false },
        answers: { observe: { kind: 'ok', status: 200, result: {} } },
      }),
      'settle Unstable look',
    ],
    [
      'and written slowly',
      view(byPath, {
        record: owned(byPath),
        writes: { lost: 3, isDue: true },
        answers: { observe: { kind: 'ok', status: 200, result: {} } },
      }),
      'send update PUT /queues/orders',
    ],
    [
      'one that was just created may be returned later',
      view(byPath, {
        record: owned(byPath, { createdBy: 'k1', createdAtMs: nowMs - 39_000 }),
        answers: { observe: absent },
      }),
      'settle NotFound after 1000',
    ],
    [
      'one with an id that was never observed is not created again',
      view(byId, { record: neverObserved(byId), answers: { observe: absent } }),
      'settle NotFound look',
    ],
    [
      'also without "find"',
      view(lonely, { record: neverObserved(lonely), answers: { observe: absent } }),
      'settle NotFound look',
    ],
    [
      'an approval of its create does that',
      view(lonely, {
        record: neverObserved(lonely),
        answers: { observe: absent },
        approvals: { endpoint: undefined, id: undefined, create: 'k1', givesUp: false },
      }),
      'store',
    ],
    [
      'but not while the API may return it later',
      view(lonely, {
        record: neverObserved(lonely, { createdAtMs: nowMs - 39_000 }),
        answers: { observe: absent },
        approvals: { endpoint: undefined, id: undefined, create: 'k1', givesUp: false },
      }),
      'settle NotFound after 1000',
    ],
    [
      'an observation that returns it is stored',
      view(byId, { record: neverObserved(byId), answers: { observe: equalRecord } }),
      'store id=r1 owned',
    ],
    [
      'an edit of "observe" corrects what never returned it, and keeps the id',
      view(plan({ ...recordSpec, observe: { path: '/zones/{zone}/other/{id}' } }), {
        record: neverObserved(byId),
      }),
      'store id=r1 owned unobserved',
    ],
    [
      'an edit of "params" does not',
      view(plan({ ...recordSpec, params: { zone: 'z2' } }), { record: neverObserved(byId) }),
      'settle IdentityChanged event',
    ],
    [
      'one that "find" returned and "observe" does not is not taken again at once',
      view(byPath, { record: owned(byPath), seen: { answers: { observe: absent }, isNew: true } }),
      'settle NotFound backoff 1000-600000',
    ],
    [
      'a deleted one is created again',
      view(byPath, { record: owned(byPath), answers: { observe: absent } }),
      'store',
    ],
    [
      'but not for a check that fails',
      view(byPath, {
        record: owned(byPath),
        endpoint: { ...endpoint, checkPath: '/health' },
        answers: { observe: absent, check: status(500) },
      }),
      'settle CheckFailed backoff 200-120000',
    ],
    [
      'WhenChanged writes what was not sent',
      view(plan({ ...queueSpec, write: 'WhenChanged' }), {
        record: owned(plan({ ...queueSpec, write: 'WhenChanged' })),
        answers: { observe: { kind: 'ok', status: 200, result: {} } },
      }),
      'send update PUT /queues/orders',
    ],
    [
      'and nothing else',
      (() => {
        const changed = plan({ ...queueSpec, write: 'WhenChanged' });
        return view(changed, {
          record: owned(changed, { sent: changed.content }),
          answers: { observe: { kind: 'ok', status: 200, result: {} } },
        });
      })(),
      'settle AsDesired look',
    ],
  ],
  'only observed': [
    [
      'it needs no record',
      view(plan(readSpec()), { record: {} }),
      'send observe GET /queues/orders',
    ],
    [
      'it is as it is',
      view(plan(readSpec()), { record: {}, answers: { observe: equalQueue } }),
      'settle AsDesired look',
    ],
    [
      'it may be missing',
      view(plan(readSpec()), { record: {}, answers: { observe: absent } }),
      'settle NotFound look',
    ],
    [
      'a failure leaves the last values',
      view(plan(readSpec()), { record: {}, answers: { observe: status(503) } }),
      'settle ServerError backoff 200-120000',
    ],
    [
      'an edited one releases its record',
      view(plan(readSpec()), { record: owned(byPath) }),
      'release: It is only observed',
    ],
  ],
};

function withSecret(onSecretLost = 'Wait'): ObjectPlan {
  const secret = { name: 'www-token', data: { token: '$(body.token)' } };
  return plan({ ...recordSpec, secret, onSecretLost });
}

function readSpec(): JsonObject {
  return { params: { name: 'orders' }, observe: { path: '/queues/{name}' } };
}

describe('http-objects/core decide', () => {
  for (const [group, cases] of Object.entries(rows))
    for (const [name, of, expected] of cases)
      test(`${group}: ${name}`, () => {
        assert.equal(text(decide(of)), expected);
      });

  test('an object that was never observed names its requests, and the annotation', () => {
    const step = decide(
      view(lonely, { record: neverObserved(lonely), answers: { observe: absent } }),
    );
    assert.ok(step.kind === 'settle');
    assert.equal(
      step.state.synced.message,
      '"observe" (GET /v1/zones/z1/records/r1) never returned the object that "create" made; correct "observe", or set the annotation "homeostat.dev/approve-create" to "k1" to create another one',
    );
  });

  for (const [role, code, answer, expected] of [
    [
      'find',
      '$(body.id)',
      { ...foundOne, found: [{ id: undefined, result: {} }] },
      '"id" $(body.id) gives no id for the object that "find" found; use $(result.id)',
    ],
    [
      'find',
      '$(result.key)',
      { ...foundOne, found: [{ id: undefined, result: {} }] },
      '"id" $(result.key) gives no id for the object that "find" found',
    ],
    [
      'create',
      '$(body.id)',
      { kind: 'ok', status: 201 },
      '"id" $(body.id) gives no id for the answer to "create" (POST /v1/zones/z1/records)',
    ],
  ] as const)
    test(`an id that is missing after "${role}" names the code ${code}`, () => {
      const isCreate = role === 'create';
      for (const record of [known(byId), known(byId, { pending: pendingSince(0) })]) {
        if (isCreate && record.pending === undefined) continue;
        const step = decide(
          view(plan({ ...recordSpec, id: code }), {
            record,
            seen: { answers: { [role]: answer }, ...(isCreate && { armed: 'k1' }) },
          }),
        );
        assert.ok(step.kind === 'settle');
        assert.deepEqual(
          [step.state.synced.reason, step.state.synced.message],
          ['IdMissing', expected],
        );
      }
    });

  test('the age of an object begins with the answer to its create, not with the wait for its turn', () => {
    const step = decide(
      view(byId, {
        record: known(byId, { pending: pendingSince(300_000) }),
        seen: { answers: { create: { kind: 'ok', status: 201, id: 'r1' } }, armed: 'k1' },
      }),
    );
    assert.ok(step.kind === 'store');
    assert.equal(step.record.createdAtMs, nowMs);
  });

  for (const role of ['observe', 'find', 'check'] satisfies Role[])
    test(`a "${role}" that fails never creates or deletes`, () => {
      for (const record of [
        known(byId),
        owned(byId),
        known(byId, { pending: pendingSince(60_000) }),
      ]) {
        const step = decide(
          view(byId, {
            record,
            answers: { find: absent, observe: absent, [role]: lost },
            endpoint: { ...endpoint, checkPath: '/h' },
          }),
        );
        assert.ok(
          step.kind !== 'send' || !['create', 'delete', 'update'].includes(step.role),
          text(step),
        );
      }
    });
});
