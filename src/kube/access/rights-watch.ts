import type { LogFields, Logger } from '../../telemetry/roles.ts';
import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import { failureFields } from '../../util/failure-fields.ts';
import { isJsonObject } from '../../util/json.ts';
import type { ApiClient } from '../client/api-client.ts';
import { type AccessRight, KubeError, type KubeErrorCode } from '../kube-error.ts';
import type { RightsWatch } from '../roles.ts';

export interface RightsWatchOptions {
  readonly api: Pick<ApiClient, 'request'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ClosableRightsWatch extends RightsWatch {
  /** Asks nothing more; nobody is called back. */
  close(): void;
}

const delays = { baseDelayMs: 5_000, maxDelayMs: 60_000 };
/**
 * So long the delays of a right are remembered after it came: an authorizer that says yes to the review and no to the
 * request must not be asked every five seconds.
 */
const rememberMs = 300_000;
const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
/** A right that was asked for just now is not asked for again because another one came. */
const freshMs = 5_000;
/** The server does not let us ask, or has no such review. */
const cannotAsk: ReadonlySet<KubeErrorCode> = new Set([
  'forbidden',
  'denied',
  'kind-missing',
  'rejected',
]);

/** One right that is, or was, waited for. */
interface Question {
  readonly right: AccessRight;
  readonly listeners: Set<() => void>;
  /** Reviews so far. */
  reviews: number;
  /** Since when somebody waits for it. Monotonic. */
  sinceMs: number;
  /** When somebody last waited for it. Monotonic. */
  lastWantedMs: number;
  /** When it was last asked for. Monotonic. */
  lastReviewMs: number;
  /** Of the timer until the next review. */
  cancel: (() => void) | undefined;
  isReviewed: boolean;
}

/** Asks for rights that are missing by SelfSubjectAccessReview, each once however many wait for it. */
export function createRightsWatch(options: RightsWatchOptions): ClosableRightsWatch {
  return new ReviewedRights(options);
}

class ReviewedRights implements ClosableRightsWatch {
  readonly #options: RightsWatchOptions;
  readonly #questions = new Map<string, Question>();
  readonly #stop = new AbortController();

  constructor(options: RightsWatchOptions) {
    this.#options = options;
  }

  onGranted(right: AccessRight, listener: () => void): () => void {
    const question = this.#questionOf(right);
    // Wrapped: who waits twice is called twice.
    const call = () => listener();
    question.listeners.add(call);
    if (question.listeners.size === 1) {
      question.sinceMs = this.#options.clock.monotonicMs();
      this.#schedule(question);
    }
    return () => {
      if (!question.listeners.delete(call) || question.listeners.size > 0) return;
      question.lastWantedMs = this.#options.clock.monotonicMs();
      question.cancel?.();
      question.cancel = undefined;
    };
  }

  close(): void {
    this.#stop.abort();
    for (const { cancel } of this.#questions.values()) cancel?.();
    this.#questions.clear();
  }

  #questionOf(right: AccessRight): Question {
    this.#forgetOld();
    const key = keyOf(right);
    const known = this.#questions.get(key);
    if (known !== undefined) return known;
    const lastWantedMs = this.#options.clock.monotonicMs();
    const question = {
      right,
      listeners: new Set<() => void>(),
      reviews: 0,
      sinceMs: lastWantedMs,
      lastWantedMs,
      lastReviewMs: Number.NEGATIVE_INFINITY,
      cancel: undefined,
      isReviewed: false,
    };
    this.#questions.set(key, question);
    this.#options.logger.warn(fieldsOf(right), 'Right is missing');
    return question;
  }

  #forgetOld(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [key, { listeners, lastWantedMs }] of this.#questions) {
      const isOld = listeners.size === 0 && nowMs - lastWantedMs >= rememberMs;
      if (isOld) this.#questions.delete(key);
    }
  }

  /** Asks after a while. */
  #schedule(question: Question): void {
    if (this.#stop.signal.aborted || question.isReviewed) return;
    const delayMs = backoffMs(question.reviews, delays);
    question.reviews += 1;
    question.cancel = this.#options.clock.after(delayMs, () => void this.#review(question));
  }

  async #review(question: Question): Promise<void> {
    question.cancel = undefined;
    question.isReviewed = true;
    question.lastReviewMs = this.#options.clock.monotonicMs();
    const answer = await this.#ask(question.right);
    question.isReviewed = false;
    if (this.#stop.signal.aborted || question.listeners.size === 0) return;
    if (answer === 'no') return this.#schedule(question);
    this.#granted(question);
    // Roles have just been changed: rarely for one right alone.
    if (answer === 'yes') this.#reviewOthers();
  }

  #granted(question: Question): void {
    const listeners = [...question.listeners];
    question.listeners.clear();
    const nowMs = this.#options.clock.monotonicMs();
    question.lastWantedMs = nowMs;
    const missingForMs = Math.round(nowMs - question.sinceMs);
    const about = { ...fieldsOf(question.right), missingForMs };
    this.#options.logger.info(about, 'Right may be there, trying again');
    for (const listener of listeners) this.#tell(listener);
  }

  #reviewOthers(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const question of [...this.#questions.values()]) {
      if (question.cancel === undefined || nowMs - question.lastReviewMs < freshMs) continue;
      question.cancel();
      void this.#review(question);
    }
  }

  async #ask(right: AccessRight): Promise<'yes' | 'no' | 'unknown'> {
    const { api, logger } = this.#options;
    try {
      const { body } = await api.request(
        {
          method: 'POST',
          path,
          body: reviewOf(right),
          flow: { name: 'rights', priority: 'world' },
        },
        this.#stop.signal,
      );
      return isAllowed(body) ? 'yes' : 'no';
    } catch (error) {
      logger.debug({ ...failureFields(error), ...fieldsOf(right) }, 'Right could not be asked for');
      return error instanceof KubeError && cannotAsk.has(error.code) ? 'unknown' : 'no';
    }
  }

  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.logger.error({ err: error }, 'A listener for a right threw');
    }
  }
}

function reviewOf({ isPrivate: _, ...right }: AccessRight): unknown {
  const spec = { resourceAttributes: right };
  return { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
}

/** A right in a line of the log. */
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
