import type { LogFields, Logger } from '#telemetry/roles.ts';
import { backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import { errorLogFields } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import type { ApiClient } from '../client/api-client.ts';
import { type AccessRight, KubeError, type KubeErrorCode } from '../kube-error.ts';
import type { RightsWatcher } from '../roles.ts';

interface RightsWatcherOptions {
  readonly api: Pick<ApiClient, 'request'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ClosableRightsWatcher extends RightsWatcher {
  /** Stops all reviews and notifications. */
  close(): void;
}

const delays = { baseDelayMs: 5_000, maxDelayMs: 60_000 };
/**
 * Lifetime of a right's backoff after it was granted: an authorizer that allows the review but denies the request
 * must not be queried every five seconds.
 */
const rememberMs = 300_000;
const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
/** A right reviewed within this time is not reviewed again when another one is granted. */
const freshMs = 5_000;
/** Codes for which reviews are denied or not served. */
const reviewUnavailable: ReadonlySet<KubeErrorCode> = new Set([
  'forbidden',
  'denied',
  'kind-missing',
  'rejected',
]);

/** A missing right, with or without listeners. */
interface MissingRight {
  readonly right: AccessRight;
  readonly listeners: Set<() => void>;
  /** Reviews so far. */
  reviews: number;
  /** Monotonic time of the first listener. */
  sinceMs: number;
  /** Monotonic time of the last listener. */
  lastUsedMs: number;
  /** Monotonic time of the last review. */
  lastReviewMs: number;
  /** Cancels the timer of the next review. */
  cancel: (() => void) | undefined;
  isReviewed: boolean;
}

/** Watches missing rights by SelfSubjectAccessReviews, one per right regardless of the number of listeners. */
export function createRightsWatcher(options: RightsWatcherOptions): ClosableRightsWatcher {
  return new AccessReviewWatcher(options);
}

class AccessReviewWatcher implements ClosableRightsWatcher {
  readonly #options: RightsWatcherOptions;
  readonly #missingRights = new Map<string, MissingRight>();
  readonly #stop = new AbortController();

  constructor(options: RightsWatcherOptions) {
    this.#options = options;
  }

  onGranted(right: AccessRight, listener: () => void): () => void {
    const missing = this.#missingRightFor(right);
    // Wrapped, so that a listener can be registered twice.
    const call = () => listener();
    missing.listeners.add(call);
    if (missing.listeners.size === 1) {
      missing.sinceMs = this.#options.clock.monotonicMs();
      this.#schedule(missing);
    }
    return () => {
      if (!missing.listeners.delete(call) || missing.listeners.size > 0) return;
      missing.lastUsedMs = this.#options.clock.monotonicMs();
      missing.cancel?.();
      missing.cancel = undefined;
    };
  }

  close(): void {
    this.#stop.abort();
    for (const { cancel } of this.#missingRights.values()) cancel?.();
    this.#missingRights.clear();
  }

  #missingRightFor(right: AccessRight): MissingRight {
    this.#forgetOld();
    const key = keyOf(right);
    const known = this.#missingRights.get(key);
    if (known !== undefined) return known;
    const lastUsedMs = this.#options.clock.monotonicMs();
    const missing = {
      right,
      listeners: new Set<() => void>(),
      reviews: 0,
      sinceMs: lastUsedMs,
      lastUsedMs,
      lastReviewMs: Number.NEGATIVE_INFINITY,
      cancel: undefined,
      isReviewed: false,
    };
    this.#missingRights.set(key, missing);
    this.#options.logger.warn(fieldsOf(right), 'Right is missing');
    return missing;
  }

  #forgetOld(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [key, { listeners, lastUsedMs }] of this.#missingRights) {
      const isOld = listeners.size === 0 && nowMs - lastUsedMs >= rememberMs;
      if (isOld) this.#missingRights.delete(key);
    }
  }

  /** Schedules the next review. */
  #schedule(missing: MissingRight): void {
    if (this.#stop.signal.aborted || missing.isReviewed) return;
    const delayMs = backoffMs(missing.reviews, delays);
    missing.reviews += 1;
    missing.cancel = this.#options.clock.after(delayMs, () => void this.#review(missing));
  }

  async #review(missing: MissingRight): Promise<void> {
    missing.cancel = undefined;
    missing.isReviewed = true;
    missing.lastReviewMs = this.#options.clock.monotonicMs();
    const answer = await this.#sendReview(missing.right);
    missing.isReviewed = false;
    if (this.#stop.signal.aborted || missing.listeners.size === 0) return;
    if (answer === 'no') return this.#schedule(missing);
    this.#granted(missing);
    // The roles have changed: other rights were probably granted too.
    if (answer === 'yes') this.#reviewOthers();
  }

  #granted(missing: MissingRight): void {
    const listeners = [...missing.listeners];
    missing.listeners.clear();
    const nowMs = this.#options.clock.monotonicMs();
    missing.lastUsedMs = nowMs;
    const missingForMs = Math.round(nowMs - missing.sinceMs);
    const about = { ...fieldsOf(missing.right), missingForMs };
    this.#options.logger.info(about, 'Right may have been granted, retrying');
    for (const listener of listeners) this.#notify(listener);
  }

  #reviewOthers(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const missing of [...this.#missingRights.values()]) {
      if (missing.cancel === undefined || nowMs - missing.lastReviewMs < freshMs) continue;
      missing.cancel();
      void this.#review(missing);
    }
  }

  async #sendReview(right: AccessRight): Promise<'yes' | 'no' | 'unknown'> {
    const { api, logger } = this.#options;
    try {
      const { body } = await api.request(
        {
          method: 'POST',
          path,
          body: reviewOf(right),
          flow: { name: 'rights', priority: 'object' },
        },
        this.#stop.signal,
      );
      return isAllowed(body) ? 'yes' : 'no';
    } catch (error) {
      logger.debug({ ...errorLogFields(error), ...fieldsOf(right) }, 'Access review failed');
      return error instanceof KubeError && reviewUnavailable.has(error.code) ? 'unknown' : 'no';
    }
  }

  #notify(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.logger.error({ err: error }, 'A rights listener threw an error');
    }
  }
}

function reviewOf({ isPrivate: _, ...right }: AccessRight): unknown {
  const spec = { resourceAttributes: right };
  return { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
}

/** Log fields of a right. */
function fieldsOf({ isPrivate, namespace, name, ...right }: AccessRight): LogFields {
  if (isPrivate === true) return right;
  return {
    ...right,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

function isAllowed(body: unknown): boolean {
  const status = isJsonObject(body) ? body.status : undefined;
  return isJsonObject(status) && status.allowed === true;
}

function keyOf({ verb, group, resource, subresource, namespace, name }: AccessRight): string {
  return JSON.stringify([verb, group, resource, subresource, namespace, name]);
}
