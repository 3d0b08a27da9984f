import type { KubeCluster } from '../kube/index.ts';
import { KubeError } from '../kube/index.ts';
import { gvkOf } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { SampleFile } from './samples.ts';

export interface SampleApplierOptions {
  readonly cluster: KubeCluster;
  /** A line for people. */
  readonly print: (text: string) => void;
}

const fieldManager = 'homeostat-dev';
const flow = { name: 'dev', priority: 'world' } as const;

/** Applies samples, and remembers those whose kind is not there yet. */
export class SampleApplier {
  readonly #options: SampleApplierOptions;
  #waiting: readonly KubeObject[] = [];

  constructor(options: SampleApplierOptions) {
    this.#options = options;
  }

  /** Applies all objects of these files; says what became of each. */
  async apply(files: readonly SampleFile[], signal: AbortSignal): Promise<void> {
    await this.#applyAll(
      files.flatMap(({ objects }) => objects),
      signal,
    );
  }

  /** Tries those again whose kind was missing. */
  async retry(signal: AbortSignal): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    await this.#applyAll(waiting, signal);
  }

  async #applyAll(objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
    const { print } = this.#options;
    for (const object of objects) {
      const title = `${object.kind} "${object.metadata.name}"`;
      try {
        print(`${await this.#applyOne(object, signal)} ${title}`);
      } catch (error) {
        if (signal.aborted || !(error instanceof KubeError)) throw error;
        if (error.code === 'kind-missing') this.#waiting = [...this.#waiting, object];
        print(`Cannot apply ${title}: ${error.message}`);
      }
    }
  }

  async #applyOne(object: KubeObject, signal: AbortSignal): Promise<'Created' | 'Applied'> {
    const { cluster } = this.#options;
    const gvk = gvkOf(object.apiVersion, object.kind);
    const type = cluster.resourceFor(gvk) ?? (await cluster.lookUp(gvk, signal));
    const namespace = object.metadata.namespace ?? 'default';
    const placed = type?.namespaced
      ? { ...object, metadata: { ...object.metadata, namespace } }
      : object;
    const result = await cluster.apply(placed, { fieldManager, force: true, flow }, signal);
    return result.created ? 'Created' : 'Applied';
  }
}
