import type { Json } from '#util/json.ts';

/** Roles of requests. `check` is the one of the endpoint. */
export type Role = 'check' | 'observe' | 'find' | 'create' | 'update' | 'delete';

/** A request that answered, or did not, as far as decisions depend on it. */
export type Answer =
  /** It succeeded. */
  | {
      readonly kind: 'ok';
      readonly status: number;
      /** Of `observe`: the object. Of `create`: the object, if the answer has it. */
      readonly result?: Json;
      /** Of `create`: the id in the answer. */
      readonly id?: string;
      /** Of `find`: the objects that match. */
      readonly found?: readonly Found[];
    }
  /** The API answered that the object does not exist: 404, 410, or `absent`. */
  | { readonly kind: 'absent'; readonly status: number }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface Found {
  /** Undefined: the object has no id. */
  readonly id: string | undefined;
  readonly result: Json;
}

/** Why a request failed. */
export interface Failure {
  readonly class: FailureClass;
  /** CamelCase. */
  readonly reason: string;
  /** For the status: without values of Secrets. */
  readonly message: string;
  readonly status?: number;
  /** Bytes of the request may have arrived: the API may have acted on it. */
  readonly mayHaveArrived: boolean;
  /** From `Retry-After`, in ms. */
  readonly retryAfterMs?: number;
  /** The credentials do not exist any more: `whenGone` decides at deletion. */
  readonly isGone?: true;
}

/**
 * When a failure is retried: `soon` after 200 ms to 2 min, `later` after 1 s to 10 min, `change` after a change of spec, inputs or
 * endpoint, or 10 min.
 */
export type FailureClass = 'soon' | 'later' | 'change';

/** Delays of each class, in ms. */
export const failureDelays = {
  soon: { baseDelayMs: 200, maxDelayMs: 120_000 },
  later: { baseDelayMs: 1_000, maxDelayMs: 600_000 },
  change: { baseDelayMs: 600_000, maxDelayMs: 600_000 },
} as const;

const soon = new Set([408, 425, 429, 500, 502, 503, 504]);
const later = new Set([404, 405, 409, 410, 412, 422, 423, 424]);
/** Answers to a create after which the object may exist. 302 and 303 lead to what was created. */
const unclear = new Set([302, 303, 408]);

/** The failure that a status means. Pure. */
export function failureOf(
  status: number,
  {
    message,
    retryAfterMs,
  }: { readonly message: string; readonly retryAfterMs?: number | undefined },
): Failure {
  return {
    class: soon.has(status) || status > 504 ? 'soon' : later.has(status) ? 'later' : 'change',
    reason: reasonOf(status),
    ...{ message, status },
    mayHaveArrived: status >= 500 || unclear.has(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function reasonOf(status: number): string {
  if (status === 401 || status === 403) return 'Unauthorized';
  if (status === 409 || status === 412 || status === 423) return 'Conflict';
  if (status === 429) return 'TooManyRequests';
  if (status >= 500) return 'ServerError';
  return status >= 300 && status < 400 ? 'Redirected' : 'Rejected';
}

/** The delay that `Retry-After` asks for, in ms, at most 10 min. Undefined: none. Pure. */
export function retryAfterOf(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(value.trim()) ? Number(value) : undefined;
  const ms = seconds === undefined ? Date.parse(value) - nowMs : seconds * 1000;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), 600_000) : undefined;
}
