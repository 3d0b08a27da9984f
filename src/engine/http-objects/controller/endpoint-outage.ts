import type { ReconcileResult } from '#controller';

/** What a reconcile found out about the API. Undefined: it sent nothing. */
export type Reach = 'answered' | 'unreachable' | undefined;

/** The result of a reconcile of an object. */
export interface ObjectResult {
  readonly result: ReconcileResult;
  readonly reach: Reach;
}

export const nothingSent: ObjectResult = { result: { kind: 'done' }, reach: undefined };

type Retry = Extract<ReconcileResult, { readonly kind: 'retry' }>;

/** While an API does not answer, one of its objects tries again after these times. */
const probeDelays = { baseDelayMs: 200, maxDelayMs: 10_000 };
/** The others wait for its answer. If it never has one, because it was deleted or moved, they try after this time. */
const waitDelays = { baseDelayMs: 120_000, maxDelayMs: 120_000 };

/**
 * Who tries again while the API of an endpoint does not answer: one object, soon; not each of a thousand. With its first answer, all of them
 * are reconciled; the limits of the endpoint pace their requests. An outage is two failures with no answer to any object in between: an
 * object that fails while others have answers keeps its own delays, and delays none of them.
 */
export class EndpointOutage {
  readonly #release: () => void;
  /** The object that tries again. Undefined: there is no outage. */
  #prober: string | undefined;
  /** Has the API answered since the last failure? */
  #hasAnswered = false;

  /** `release`: reconciles the objects that wait. */
  constructor(release: () => void) {
    this.#release = release;
  }

  /** What the queue does with the result of an object. */
  resultOf(key: string, { result, reach }: ObjectResult): ReconcileResult {
    if (reach === 'unreachable' && result.kind === 'retry') return this.#delayed(key, result);
    if (reach === 'answered') this.#hasAnswered = true;
    this.#end(key);
    return result;
  }

  #delayed(key: string, result: Retry): ReconcileResult {
    const isAlone = this.#hasAnswered;
    this.#hasAnswered = false;
    if (isAlone) {
      this.#end(key);
      return result;
    }
    this.#prober ??= key;
    const delays = this.#prober === key ? probeDelays : waitDelays;
    return { ...result, ...delays, isUnreachable: true };
  }

  /** The reconcile of an object has failed otherwise. */
  noteError(key: string): void {
    this.#end(key);
  }

  /** Answers to others release nothing: an object that is slow alone must not be sent again with each of them. */
  #end(key: string): void {
    if (this.#prober !== key) return;
    this.#prober = undefined;
    this.#release();
  }
}
