import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type LeaseRecord, recordOf } from './lease-record.ts';

const nobodys: LeaseRecord = { holder: '', durationSeconds: 0, transitions: 0 };

/**
 * What one process has seen of the Lease, and since when. How long it is good counts from when a change was seen here, by our own
 * clock; the times in it are by the clocks of others.
 */
export class LeaseSight {
  readonly #clock: Clock;
  readonly #identity: string;
  #object: KubeObject | undefined;
  #record = nobodys;
  #isKnown = false;
  #changedMs = 0;
  #hasMissed = false;

  constructor(clock: Clock, identity: string) {
    this.#clock = clock;
    this.#identity = identity;
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Undefined: there is none. */
  get before(): KubeObject | undefined {
    return this.#object;
  }

  get holder(): string {
    return this.#record.holder;
  }

  get isOthers(): boolean {
    return this.holder !== '' && this.holder !== this.#identity;
  }

  /** How long it is still another's, in ms. */
  get leftMs(): number {
    if (!this.isOthers) return 0;
    const durationMs = this.#record.durationSeconds * 1_000;
    return Math.max(0, this.#changedMs + durationMs - this.#clock.monotonicMs());
  }

  get mayTake(): boolean {
    return this.#isKnown && this.leftMs === 0;
  }

  /** The watch has not shown what the server has told when it was asked. */
  get hasMissed(): boolean {
    return this.#hasMissed;
  }

  /** The server was asked. */
  found(object: KubeObject | undefined): void {
    const hadChanged = this.#note(object);
    if (hadChanged) this.#hasMissed = true;
  }

  /** The watch shows it. */
  shown(object: KubeObject | undefined): void {
    this.#note(object);
    this.#hasMissed = false;
  }

  /** The answer to a write of ours. */
  wrote(object: KubeObject): void {
    this.#note(object);
  }

  /** The record with us as the holder. */
  claim(leaseDurationMs: number, time: string): LeaseRecord {
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

  /** The record of a Lease that was given back. */
  release(time: string): LeaseRecord {
    const { transitions } = this.#record;
    return { holder: '', durationSeconds: 1, acquireTime: time, renewTime: time, transitions };
  }

  /** Whether the record is another one. */
  #note(object: KubeObject | undefined): boolean {
    const wasKnown = this.#isKnown;
    this.#isKnown = true;
    // Who deletes a Lease does not stop its holder: it is still good as long as it would have been.
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
