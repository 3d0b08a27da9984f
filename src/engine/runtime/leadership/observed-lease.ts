import type { Clock } from '#util/clock.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type LeaseRecord, recordOf } from './lease.ts';

const unheldRecord: LeaseRecord = { holder: '', durationSeconds: 0, transitions: 0 };

/**
 * The Lease as one process has observed it. Expiry counts from the local time of the last observed change, because timestamps in the Lease
 * are from other clocks.
 */
export class ObservedLease {
  readonly #clock: Clock;
  readonly #identity: string;
  #object: KubeObject | undefined;
  #record = unheldRecord;
  #isKnown = false;
  #changedMs = 0;
  #isWatchBehind = false;

  constructor(clock: Clock, identity: string) {
    this.#clock = clock;
    this.#identity = identity;
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Undefined: the Lease does not exist. */
  get object(): KubeObject | undefined {
    return this.#object;
  }

  get holder(): string {
    return this.#record.holder;
  }

  get isHeldByOther(): boolean {
    return this.holder !== '' && this.holder !== this.#identity;
  }

  /** Time until another process's Lease expires, in ms. */
  get remainingMs(): number {
    if (!this.isHeldByOther) return 0;
    const durationMs = this.#record.durationSeconds * 1_000;
    return Math.max(0, this.#changedMs + durationMs - this.#clock.monotonicMs());
  }

  get canAcquire(): boolean {
    return this.#isKnown && this.remainingMs === 0;
  }

  /** Whether a read has returned a newer Lease than the watch. */
  get isWatchBehind(): boolean {
    return this.#isWatchBehind;
  }

  /** Sets the result of a read. */
  setFetched(object: KubeObject | undefined): void {
    const hadChanged = this.#update(object);
    if (hadChanged) this.#isWatchBehind = true;
  }

  /** Sets the result of a watch event. */
  setWatched(object: KubeObject | undefined): void {
    this.#update(object);
    this.#isWatchBehind = false;
  }

  /** Sets the response of a write. */
  setWritten(object: KubeObject): void {
    this.#update(object);
  }

  /** The record with this process as the holder. */
  acquiredRecord(leaseDurationMs: number, time: string): LeaseRecord {
    const { holder, acquireTime = time, transitions } = this.#record;
    const isRenewal = holder === this.#identity;
    const isFirst = this.#object === undefined && holder === '';
    return {
      holder: this.#identity,
      durationSeconds: Math.ceil(leaseDurationMs / 1_000),
      acquireTime: isRenewal ? acquireTime : time,
      renewTime: time,
      transitions: isRenewal || isFirst ? transitions : transitions + 1,
    };
  }

  /** The record of a released Lease. */
  releasedRecord(time: string): LeaseRecord {
    const { transitions } = this.#record;
    return { holder: '', durationSeconds: 1, acquireTime: time, renewTime: time, transitions };
  }

  /** @returns whether the record has changed. */
  #update(object: KubeObject | undefined): boolean {
    const wasKnown = this.#isKnown;
    this.#isKnown = true;
    // The holder keeps running after its Lease is deleted: the old record stays valid until it expires.
    const record = object === undefined ? this.#record : recordOf(object);
    const isSame =
      wasKnown &&
      (object === undefined) === (this.#object === undefined) &&
      JSON.stringify(record) === JSON.stringify(this.#record);
    this.#object = object;
    if (isSame) return false;
    this.#record = record;
    this.#changedMs = this.#clock.monotonicMs();
    return true;
  }
}
