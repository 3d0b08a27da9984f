import type { Writer } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionFinalizer, runtimeLabel } from '#util/stored-names.ts';
import { definitionGvk, flowOf, passTokenOf } from '../objects/names.ts';
import type { Decision } from './decide.ts';
import type { DefinitionRecord } from './record.ts';

/** Sets and removes the finalizer and the runtime label on `OperatorDefinition` objects. */
export class ObjectOwnership {
  readonly #cluster: Writer;
  readonly #runtime: string;

  constructor(cluster: Writer, runtime: string) {
    this.#cluster = cluster;
    this.#runtime = runtime;
  }

  /**
   * Sets the runtime label and the finalizer.
   * @returns the updated object. Undefined: it belongs to another runtime, or is deleted.
   * @throws KubeError
   */
  async claim(
    { object, runtime, hasFinalizer, isDeleted }: DefinitionRecord,
    decision: Decision,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const own = this.#runtime;
    const isOurs = runtime === own && hasFinalizer;
    // An object that is not run stays available to other runtimes.
    if (isOurs || isDeleted || (decision.kind === 'finalize' && decision.reason === 'NotRead'))
      return object;
    const stored = await this.#edit(
      object,
      signal,
      ({ labels, finalizers = [], deletionTimestamp }) => {
        const current = labels?.[runtimeLabel];
        if ((current !== undefined && current !== own) || deletionTimestamp !== undefined)
          return undefined;
        const others = finalizers.filter((each) => each !== definitionFinalizer);
        return { labels: { [runtimeLabel]: own }, finalizers: [...others, definitionFinalizer] };
      },
    );
    return stored;
  }

  /**
   * Replaces the label of another runtime.
   * @returns the updated object. Undefined: it does not belong to that runtime any more, or is deleted.
   * @throws KubeError
   */
  takeOver(
    { object, runtime: other }: DefinitionRecord,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    return this.#edit(object, signal, ({ labels }) =>
      labels?.[runtimeLabel] === other ? { labels: { [runtimeLabel]: this.#runtime } } : undefined,
    );
  }

  /** Removes the finalizer. @throws KubeError */
  async release({ object }: DefinitionRecord, signal: AbortSignal): Promise<void> {
    await this.#edit(object, signal, ({ finalizers = [] }) =>
      finalizers.includes(definitionFinalizer)
        ? { finalizers: finalizers.filter((each) => each !== definitionFinalizer) }
        : undefined,
    );
  }

  async #edit(
    object: KubeObject,
    signal: AbortSignal,
    change: Parameters<Writer['editMetadata']>[1]['change'],
  ): Promise<KubeObject | undefined> {
    const { name, uid = '' } = object.metadata;
    const options = {
      flow: flowOf(name),
      pass: passTokenOf(name),
      uid,
      cached: object,
      change,
    };
    const stored = await this.#cluster.editMetadata({ gvk: definitionGvk, name }, options, signal);
    return stored?.object;
  }
}
