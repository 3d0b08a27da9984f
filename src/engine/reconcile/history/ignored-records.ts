import type { KubeObject } from '#util/kube-object.ts';
import type { StateRecord } from './record.ts';
import type { Authenticity } from './record-signature.ts';

/** What looks like a record, and is not authentic. */
export interface IgnoredRecord {
  /** What it says. */
  readonly record: StateRecord;
  readonly object: KubeObject;
  readonly authenticity: Exclude<Authenticity, 'authentic'>;
}

/** Records that do not count: unsigned ones of earlier releases, those whose key is lost, and forged ones. */
export class IgnoredRecords {
  /** By UID of the resource that they name, then by kind and key. */
  readonly #byOwner = new Map<string, Map<string, IgnoredRecord>>();
  readonly #ownerOf = new Map<string, string>();
  #unknownKeys = 0;

  /** Whether a key was lost, or a signature claims it. */
  get hasUnknownKeys(): boolean {
    return this.#unknownKeys > 0;
  }

  of(ownerUid: string): readonly IgnoredRecord[] {
    return [...(this.#byOwner.get(ownerUid)?.values() ?? [])];
  }

  add(key: string, ignored: IgnoredRecord): void {
    const { ownerUid } = ignored.record;
    const records = this.#byOwner.get(ownerUid) ?? new Map<string, IgnoredRecord>();
    this.#byOwner.set(ownerUid, records.set(key, ignored));
    this.#ownerOf.set(key, ownerUid);
    if (ignored.authenticity === 'unknown-key') this.#unknownKeys += 1;
  }

  remove(key: string): void {
    const ownerUid = this.#ownerOf.get(key) ?? '';
    const records = this.#byOwner.get(ownerUid);
    const ignored = records?.get(key);
    if (records === undefined || ignored === undefined) return;
    if (ignored.authenticity === 'unknown-key') this.#unknownKeys -= 1;
    this.#ownerOf.delete(key);
    records.delete(key);
    if (records.size === 0) this.#byOwner.delete(ownerUid);
  }
}
