import type { WorkBudget } from '#compile/language/index.ts';
import { HttpTransportError, type TransportAnswer } from '#kube/roles.ts';
import type { Json, JsonObject } from '#util/json.ts';
import type { ObjectMeta } from '#util/kube-object.ts';
import type { Answer, Role } from '../core/answer.ts';
import { type AnswerReader, readAnswer } from '../core/read-answer.ts';
import type { FarRequest, ObjectRecord } from '../core/record.ts';
import { type RequestBody, requestBody } from '../core/request-body.ts';
import { requestText } from '../core/request-text.ts';
import { isBlocked } from '../core/view.ts';
import type { CodeScope } from '../spec/code-field.ts';
import { inputValues, masked, type Start } from './attempt-start.ts';
import type { EndpointSession } from './endpoint-session.ts';
import { transportFailure } from './transport-failure.ts';

/** What a request depends on. */
export interface ExchangeContext {
  readonly start: Start;
  readonly metadata: ObjectMeta;
  readonly record: ObjectRecord | undefined;
  /** What `observe` has returned in this reconcile. */
  readonly result: Json | undefined;
  /** Headers of that answer. */
  readonly headers: JsonObject | undefined;
  readonly nowMs: number;
  readonly budget: WorkBudget;
}

/** A request and its answer. */
export interface Exchange {
  readonly answer: Answer;
  /** What code can read of the answer. Undefined: there was none. */
  readonly scope?: CodeScope;
  /** HTTP status. */
  readonly code?: number;
}

/**
 * Sends a request of an object, and reads what its answer means.
 * @throws HttpTransportError `aborted`: nothing more is decided by this process
 */
export async function exchange(
  role: Role,
  request: FarRequest,
  context: ExchangeContext,
  signal: AbortSignal,
): Promise<Exchange> {
  const session = context.start.endpoint?.session;
  if (session === undefined) throw new Error('Expected an endpoint with credentials');
  const body = bodyOf(role, context);
  const ownHeaders = ownHeadersOf(role, context);
  const reader = readerOf(request, session, context);
  const read = async (raw: TransportAnswer): Promise<Exchange> => ({
    ...(await readAnswer(role, raw, reader)),
    code: raw.status,
  });
  try {
    return await session.send({ ...request, ...(body && { body }), ownHeaders }, read, signal);
  } catch (error) {
    signal.throwIfAborted();
    // Another process leads: nothing more is decided here.
    if (!(error instanceof HttpTransportError) || error.code === 'aborted') throw error;
    return { answer: { kind: 'failed', failure: transportFailure(error) } };
  }
}

function bodyOf(role: Role, { start, result }: ExchangeContext): RequestBody | undefined {
  if ((role !== 'create' && role !== 'update') || isBlocked(start.plan)) return undefined;
  const { spec } = start.plan;
  return requestBody(role, { spec, inputs: inputValues(start), observed: result });
}

function ownHeadersOf(
  role: Role,
  { start: { plan }, metadata, record, headers }: ExchangeContext,
): Readonly<Record<string, string>> {
  if (isBlocked(plan)) return {};
  const etag = headers?.etag;
  // Weak tags never match in `If-Match`.
  const isStrong = typeof etag === 'string' && etag.startsWith('"');
  if (role === 'update' && isStrong && plan.requests.update?.method === 'PUT')
    return { 'if-match': etag };
  if (role !== 'create' || !plan.spec.idempotencyKey) return {};
  const creates = record?.creates ?? 1;
  const suffix = creates > 1 ? `-${creates}` : '';
  return { 'idempotency-key': `${metadata.uid ?? ''}${suffix}` };
}

function readerOf(
  request: FarRequest,
  session: EndpointSession,
  { start, metadata, record, nowMs, budget }: ExchangeContext,
): AnswerReader {
  const { plan, inputs } = start;
  const isValid = !isBlocked(plan);
  return {
    spec: isValid ? plan.spec : undefined,
    metadata,
    id: record?.identity?.id,
    request: requestText(start.endpoint?.view, request),
    auth: session.authText,
    match: record?.pending?.match ?? (isValid ? plan.match : {}),
    showsErrors: !session.usesCredentials && Object.keys(inputs).length === 0,
    mask: (text) => masked(text, start),
    ...{ nowMs, budget },
  };
}
