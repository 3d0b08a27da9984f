import type { EditableMetadata, MetadataPatch, Writer } from '#kube/roles.ts';
import { type KubeObject, parseKey } from '#util/kube-object.ts';
import { runtimeLabel } from '#util/stored-names.ts';
import { httpEndpointGvk } from '../kinds/http-endpoint.ts';
import { controllerName } from '../names.ts';
import { ownPass } from './object-writer.ts';

/** The finalizer of an `HttpEndpoint` with objects. */
export const endpointFinalizer = 'homeostat.dev/http-endpoint';

const flow = { name: controllerName, priority: 'object' } as const;

/** The runtime that works with an endpoint. */
export interface RuntimeNames {
  /** Label value of this runtime. Undefined: it is the only one. */
  readonly runtime?: string | undefined;
  /** A runtime that does not run any more. */
  readonly takeOverFrom?: string | undefined;
}

interface EndpointOwnershipOptions extends RuntimeNames {
  readonly cluster: Pick<Writer, 'editMetadata'>;
  /** From the cache. */
  readonly objectOf: (key: string) => KubeObject | undefined;
  /** Whether objects need the endpoint. */
  readonly isUsed: (key: string) => boolean;
}

/**
 * Which runtime works with an endpoint and its objects, as a label: several runtimes of a cluster see all of them. Its finalizer keeps an
 * endpoint until the last of its objects is deleted.
 */
export class EndpointOwnership {
  readonly #options: EndpointOwnershipOptions;
  /** By endpoint, the claim that is being written: its first objects are reconciled at the same time. */
  readonly #claiming = new Map<string, Promise<void>>();

  constructor(options: EndpointOwnershipOptions) {
    this.#options = options;
  }

  /**
   * Claims an endpoint without an owner, and with `isUsed` adds the finalizer, before the first request. False: another runtime has it.
   * One that does not exist belongs to all.
   * @throws KubeError
   */
  async claim(key: string, isUsed: boolean, signal: AbortSignal): Promise<boolean> {
    for (let other = this.#claiming.get(key); other; other = this.#claiming.get(key)) await other;
    const object = this.#options.objectOf(key);
    if (object === undefined) return true;
    if (!this.#isFree(object.metadata)) return false;
    const change = (metadata: EditableMetadata) => this.#claimed(metadata, isUsed);
    if (change(object.metadata) === undefined) return true;
    const claiming = this.#edit(key, object, signal, change).finally(() =>
      this.#claiming.delete(key),
    );
    this.#claiming.set(key, claiming);
    await claiming;
    const now = this.#options.objectOf(key);
    return now === undefined || this.#isFree(now.metadata);
  }

  /** Removes the finalizer of an endpoint that is being deleted, and that no object needs. @throws KubeError */
  async release(key: string, signal: AbortSignal): Promise<void> {
    const object = this.#options.objectOf(key);
    const { finalizers = [], deletionTimestamp } = object?.metadata ?? {};
    const isHeld = deletionTimestamp !== undefined && finalizers.includes(endpointFinalizer);
    if (object === undefined || !isHeld || this.#options.isUsed(key)) return;
    await this.#edit(key, object, signal, (metadata) => ({
      finalizers: metadata.finalizers?.filter((each) => each !== endpointFinalizer) ?? [],
    }));
  }

  #isFree({ labels = {} }: EditableMetadata): boolean {
    const { runtime, takeOverFrom } = this.#options;
    const owner = labels[runtimeLabel];
    return [undefined, runtime, takeOverFrom].includes(owner) || runtime === undefined;
  }

  /** Undefined: there is nothing to change. One that is being deleted gets no finalizer. */
  #claimed(metadata: EditableMetadata, isUsed: boolean): MetadataPatch | undefined {
    const { finalizers = [], labels = {}, deletionTimestamp } = metadata;
    const { runtime } = this.#options;
    const isLabelled = runtime === undefined || labels[runtimeLabel] === runtime;
    const isHeld =
      !isUsed || deletionTimestamp !== undefined || finalizers.includes(endpointFinalizer);
    if (!this.#isFree(metadata) || (isLabelled && isHeld)) return undefined;
    return {
      ...(!isLabelled && { labels: { [runtimeLabel]: runtime } }),
      ...(!isHeld && { finalizers: [...finalizers, endpointFinalizer] }),
    };
  }

  async #edit(
    key: string,
    object: KubeObject,
    signal: AbortSignal,
    change: (metadata: EditableMetadata) => MetadataPatch | undefined,
  ): Promise<void> {
    const { namespace, name } = parseKey(key);
    const { uid = '' } = object.metadata;
    await this.#options.cluster.editMetadata(
      { gvk: httpEndpointGvk, namespace, name },
      { ...{ flow, uid, cached: object, change }, pass: { key, definition: ownPass } },
      signal,
    );
  }
}
