import type { ReconcileResult } from '#controller';
import { invariant } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { pausedAnnotation } from '#util/stored-names.ts';
import { decide } from '../core/decide.ts';
import { later } from '../core/settle.ts';
import type { Settled } from '../core/view.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import { nothingSent, type ObjectResult } from './endpoint-outage.ts';
import { lookDelayMs, type ObjectMemory } from './object-memory.ts';
import { isRejection } from './rejected-writes.ts';

type ObjectReconcilerOptions = Omit<AttemptOptions, 'memory' | 'startedMs'> & {
  /** From the cache. Undefined: it is deleted. */
  readonly objectOf: (key: string) => KubeObject | undefined;
};

/** Steps of one reconcile, which needs about ten. */
const maxSteps = 50;

/**
 * Reconciles `HttpObject`s. Each reconcile is level-triggered: it decides from the object, its record and the answers of the API what
 * comes next, does it, and decides again.
 */
export class ObjectReconciler {
  readonly #options: ObjectReconcilerOptions;
  readonly #startedMs: number;
  readonly #memories = new Map<string, ObjectMemory>();

  constructor(options: ObjectReconcilerOptions) {
    this.#options = options;
    this.#startedMs = options.ports.clock.nowMs();
  }

  /** The longest time since an object was observed by this process. */
  get oldestObservationMs(): number {
    const nowMs = this.#options.ports.clock.monotonicMs();
    let oldestMs = 0;
    for (const { observedAtMs = nowMs } of this.#memories.values())
      oldestMs = Math.max(oldestMs, nowMs - observedAtMs);
    return oldestMs;
  }

  /** Never called concurrently for one object. @throws KubeError */
  async reconcile(key: string, signal: AbortSignal): Promise<ObjectResult> {
    const object = this.#options.objectOf(key);
    if (object === undefined) return this.#forget(key);
    if (object.metadata.annotations?.[pausedAnnotation] === 'true') return nothingSent;
    const memory = this.#memoryOf(key, object);
    const startedMs = this.#startedMs;
    const attempt = await Attempt.begin(object, { ...this.#options, memory, startedMs }, signal);
    const waitMs = this.#waitMs(key, attempt, memory);
    if (waitMs > 0) return { ...nothingSent, result: doneFor(waitMs) };
    for (let steps = 0; steps < maxSteps; steps++) {
      const step = decide(attempt.view);
      switch (step.kind) {
        case 'store': {
          const rejected = await settledIfRejected(attempt.store(step, signal));
          if (rejected !== undefined) return this.#finish(key, attempt, rejected, signal);
          break;
        }
        case 'prepareSecret':
        case 'recallSecret':
        case 'storeSecret': {
          const blocked = await attempt.handleSecret(step, signal);
          if (blocked !== undefined) return this.#finish(key, attempt, blocked, signal);
          break;
        }
        case 'send':
          await attempt.send(step, signal);
          break;
        case 'release':
          await attempt.release(step.note, signal);
          if (object.metadata.deletionTimestamp !== undefined) return this.#forget(key);
          break;
        case 'settle':
          return this.#finish(key, attempt, step.state, signal);
      }
    }
    invariant(false, `HttpObject "${key}" takes more than ${maxSteps} steps`);
  }

  /** Forgets all of an object. */
  #forget(key: string): ObjectResult {
    this.#memories.delete(key);
    this.#options.index.delete(key);
    return nothingSent;
  }

  #memoryOf(key: string, { metadata }: KubeObject): ObjectMemory | undefined {
    const memory = this.#memories.get(key);
    return memory?.uid === metadata.uid ? memory : undefined;
  }

  /** Time until the object is due. After a restart, objects that were as desired are observed within `every`. */
  #waitMs(key: string, attempt: Attempt, memory: ObjectMemory | undefined): number {
    const { clock, random } = this.#options.ports;
    const nowMs = clock.monotonicMs();
    if (memory !== undefined)
      return memory.cause === attempt.cause ? Math.max(0, memory.nextLookMs - nowMs) : 0;
    if (!attempt.wasAsDesired || attempt.everyMs === 0) return 0;
    const delayMs = attempt.everyMs * random.fraction();
    this.#memories.set(key, attempt.memoryUntil(nowMs + delayMs));
    return delayMs;
  }

  async #finish(
    key: string,
    attempt: Attempt,
    state: Settled,
    signal: AbortSignal,
  ): Promise<ObjectResult> {
    const { clock, random } = this.#options.ports;
    await attempt.report(state, signal);
    const delayMs = lookDelayMs(state.next, attempt.everyMs, random);
    this.#memories.set(key, attempt.memoryUntil(clock.monotonicMs() + delayMs));
    return { result: resultOf(state, delayMs), reach: attempt.reach };
  }
}

function resultOf({ next, synced: { reason } }: Settled, delayMs: number): ReconcileResult {
  if (next.kind === 'after') return { kind: 'requeue', afterMs: next.ms, reason };
  if (next.kind === 'backoff') {
    const { baseDelayMs, maxDelayMs } = next;
    return { kind: 'retry', baseDelayMs, maxDelayMs, reason };
  }
  return doneFor(delayMs);
}

/** Why the API server rejects the record, for the status. @throws other errors */
async function settledIfRejected(stored: Promise<void>): Promise<Settled | undefined> {
  try {
    await stored;
    return undefined;
  } catch (error) {
    if (!isRejection(error)) throw error;
    const synced = { status: 'False', reason: 'WriteRejected', message: error.message } as const;
    return { synced, isObserved: false, next: later };
  }
}

function doneFor(delayMs: number): ReconcileResult {
  return { kind: 'done', ...(Number.isFinite(delayMs) && { due: { afterMs: delayMs } }) };
}
