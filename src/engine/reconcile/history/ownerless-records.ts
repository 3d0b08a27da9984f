import type { WriteOptions } from '#kube/roles.ts';
import { parseKey } from '#util/kube-object.ts';
import { refTo } from '../identity.ts';
import type { RecordStore } from './record-store.ts';
import type { RecordWriter } from './record-writer.ts';
import type { RecorderPartOptions } from './recorder-options.ts';
import { candidateOf } from './removable-records.ts';

/** A resource that is being deleted takes its records with it; what is left then is checked. */
const delayMs = 60_000;

interface OwnerlessParts {
  readonly store: RecordStore;
  readonly writer: RecordWriter;
  /** Calls {@link OwnerlessRecords.remove} with the UID of a resource. */
  readonly enqueue: (ownerUid: string) => void;
}

/** Records of resources that do not exist any more: the finalizer was removed by hand, or an old record was written again. */
export class OwnerlessRecords {
  readonly #options: RecorderPartOptions;
  readonly #parts: OwnerlessParts;
  #cancel: (() => void) | undefined;

  constructor(options: RecorderPartOptions, parts: OwnerlessParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Checks later whether the resources exist whose records no watched resource has. */
  checkLater(): void {
    const { clock, isReadOnly, keyOfUid } = this.#options;
    const { store, enqueue } = this.#parts;
    if (isReadOnly === true || this.#cancel !== undefined) return;
    this.#cancel = clock.after(delayMs, () => {
      this.#cancel = undefined;
      for (const uid of store.owners) if (keyOfUid(uid) === undefined) enqueue(uid);
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  /**
   * Deletes the records of a resource. Only authentic ones are deleted, and only once the server answers that the resource does not exist.
   * @throws KubeError
   */
  async remove(ownerUid: string, signal: AbortSignal): Promise<void> {
    const { definition, kind, cluster, keyOfUid } = this.#options;
    const { store, writer } = this.#parts;
    if (store.state.kind !== 'synced' || keyOfUid(ownerUid) !== undefined) return;
    const records = [...store.seriesOf(ownerUid)].flat();
    const ownerKey = records.find((record) => record.ownerKey !== undefined)?.ownerKey;
    if (ownerKey === undefined) return;
    const { namespace, name } = parseKey(ownerKey);
    const ref = refTo(kind, namespace === '' ? undefined : namespace, name);
    const options: WriteOptions = { flow: { name: definition, priority: 'object' } };
    const owner = await cluster.get(ref, options, signal);
    if (owner?.object.metadata.uid === ownerUid) return;
    store.markGone(ownerUid);
    const error = await writer.removeAll(records.map(candidateOf), signal);
    if (error !== undefined) throw error;
  }
}
