import type { Writer } from '../../kube/roles.ts';
import { type KubeObject, parseKey } from '../../util/kube-object.ts';
import { httpEndpointGvk } from '../kinds/http-endpoint.ts';
import { controllerName } from '../names.ts';
import { ownPass } from './object-writer.ts';

/** The finalizer of an `HttpEndpoint` with objects. */
export const endpointFinalizer = 'homeostat.dev/http-endpoint';

const flow = { name: controllerName, priority: 'object' } as const;

interface EndpointFinalizersOptions {
  readonly cluster: Pick<Writer, 'editMetadata'>;
  /** From the cache. */
  readonly objectOf: (key: string) => KubeObject | undefined;
  /** Whether objects need the endpoint. */
  readonly isUsed: (key: string) => boolean;
}

/** Keeps endpoints until the last of their objects is deleted. */
export class EndpointFinalizers {
  readonly #options: EndpointFinalizersOptions;

  constructor(options: EndpointFinalizersOptions) {
    this.#options = options;
  }

  /** Adds the finalizer before the first request. One that is being deleted gets none. @throws KubeError */
  async add(key: string, signal: AbortSignal): Promise<void> {
    const object = this.#options.objectOf(key);
    const { finalizers = [], deletionTimestamp } = object?.metadata ?? {};
    if (object === undefined || deletionTimestamp !== undefined) return;
    if (finalizers.includes(endpointFinalizer)) return;
    await this.#edit(key, object, signal, (before) => [...before, endpointFinalizer]);
  }

  /** Removes the finalizer of an endpoint that is being deleted, and that no object needs. @throws KubeError */
  async release(key: string, signal: AbortSignal): Promise<void> {
    const object = this.#options.objectOf(key);
    const { finalizers = [], deletionTimestamp } = object?.metadata ?? {};
    const isHeld = deletionTimestamp !== undefined && finalizers.includes(endpointFinalizer);
    if (object === undefined || !isHeld || this.#options.isUsed(key)) return;
    await this.#edit(key, object, signal, (before) =>
      before.filter((each) => each !== endpointFinalizer),
    );
  }

  async #edit(
    key: string,
    object: KubeObject,
    signal: AbortSignal,
    change: (finalizers: readonly string[]) => readonly string[],
  ): Promise<void> {
    const { namespace, name } = parseKey(key);
    const { uid = '' } = object.metadata;
    await this.#options.cluster.editMetadata(
      { gvk: httpEndpointGvk, namespace, name },
      {
        ...{ flow, uid, cached: object, pass: { key, definition: ownPass } },
        change: ({ finalizers = [], deletionTimestamp }) => {
          const changed = change(finalizers);
          const isAdded = changed.length > finalizers.length;
          return isAdded && deletionTimestamp !== undefined ? undefined : { finalizers: changed };
        },
      },
      signal,
    );
  }
}
