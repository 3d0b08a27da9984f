import type { PassToken } from '#kube/roles.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject, keyOf } from '#util/kube-object.ts';
import {
  type ObjectRecord,
  objectFinalizer,
  printRecord,
  recordAnnotation,
} from '../core/record.ts';
import { httpObjectGvk } from '../kinds/http-object.ts';
import { controllerName } from '../names.ts';
import type { HttpObjectPorts } from './ports.ts';
import { writeStatus } from './status-writer.ts';

const flow = { name: controllerName, priority: 'object' } as const;

/** Marks own writes, so that their events do not enqueue the object again. */
export const ownPass = 'homeostat.dev/http-objects';

/** The cached object is not the current one. The reconcile runs again with the next event. */
export class StaleObjectError extends HomeostatError<'stale'> {
  constructor() {
    super('stale', 'The HttpObject was changed or deleted meanwhile');
  }
}

/** Writes of one reconcile to its object. */
export class ObjectWriter {
  readonly #ports: HttpObjectPorts;
  readonly #pass: PassToken;
  #object: KubeObject;

  constructor(object: KubeObject, ports: HttpObjectPorts) {
    this.#object = object;
    this.#ports = ports;
    const { namespace, name } = object.metadata;
    this.#pass = { key: keyOf(namespace, name), definition: ownPass };
  }

  /** As it was last read or written. */
  get object(): KubeObject {
    return this.#object;
  }

  /** Stores the record, and the finalizer. @throws KubeError, StaleObjectError */
  storeRecord(record: ObjectRecord, signal: AbortSignal): Promise<void> {
    const text = printRecord(record);
    return this.#edit(
      { [recordAnnotation]: text },
      (finalizers) => {
        if (finalizers.includes(objectFinalizer)) return undefined;
        return [...finalizers, objectFinalizer];
      },
      signal,
    );
  }

  /** Removes the record and the finalizer. @throws KubeError, StaleObjectError */
  release(signal: AbortSignal): Promise<void> {
    return this.#edit(
      { [recordAnnotation]: null },
      (finalizers) => finalizers.filter((each) => each !== objectFinalizer),
      signal,
    );
  }

  /**
   * The record that is replaced must be the one that decided: a stale cache must not send a create again. The check and the write are
   * one request, because the patch has the resourceVersion.
   */
  async #edit(
    annotations: Readonly<Record<string, string | null>>,
    change: (finalizers: readonly string[]) => readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid = '', name, namespace } = this.#object.metadata;
    const before = this.#object.metadata.annotations?.[recordAnnotation];
    const stored = await this.#ports.cluster.editMetadata(
      { gvk: httpObjectGvk, name, ...(namespace !== undefined && { namespace }) },
      {
        ...{ flow, uid, pass: this.#pass, cached: this.#object },
        change: (live) => {
          if (live.annotations?.[recordAnnotation] !== before) throw new StaleObjectError();
          const { finalizers = [], deletionTimestamp } = live;
          // The API server rejects new finalizers on an object that is being deleted.
          if (deletionTimestamp !== undefined && !finalizers.includes(objectFinalizer))
            throw new StaleObjectError();
          const changed = change(finalizers);
          return { annotations, ...(changed && { finalizers: changed }) };
        },
      },
      signal,
    );
    if (stored === undefined) {
      // Released, and deleted with its last finalizer.
      if (annotations[recordAnnotation] === null) return;
      throw new StaleObjectError();
    }
    this.#object = stored.object;
  }

  /** Writes the status if it differs. @throws KubeError */
  async writeStatus(status: JsonObject, signal: AbortSignal): Promise<void> {
    const before = this.#object;
    const { cluster } = this.#ports;
    const stored = await writeStatus(before, status, { cluster, pass: this.#pass, signal });
    if (stored === undefined) return;
    this.#object = stored;
    this.#eventForSynced(before, status);
  }

  /** Reports a failure once, when its reason changes. */
  #eventForSynced(before: KubeObject, status: JsonObject): void {
    const [old, now] = [before, { status }].map((each) =>
      conditionsOf(each).find(({ type }) => type === 'Synced'),
    );
    if (now?.status !== 'False' || old?.reason === now.reason) return;
    this.event('Warning', String(now.reason), String(now.message));
  }

  event(type: 'Normal' | 'Warning', reason: string, note: string): void {
    this.#ports.cluster.events.record({
      regarding: this.#object,
      ...{ type, reason, note, action: 'Reconcile', definition: controllerName },
    });
  }
}
