import type { CacheEvent, Informer, StoredObject } from '../../kube/roles.ts';
import { settled } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import { failureFields } from '../../util/failure-fields.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';
import { isKindMissing, whenState } from '../when-state.ts';
import { bringDefinitionCrd } from './bring-crd.ts';
import { definitionCrdName, definitionGvk } from './names.ts';
import { type ShownTroubles, wordsOf } from './shown-troubles.ts';

const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000 };
/** What may not be done is looked at again after so long. */
const permanentMs = 600_000;

const missingCrdText = `The kind OperatorDefinition is not served and the runtime may not install it: apply deploy/crds/${definitionCrdName}.yaml, or let it create CustomResourceDefinitions`;

export interface ObjectWatchOptions {
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly troubles: ShownTroubles;
  readonly onEvent: (event: CacheEvent) => void;
  /** Everything is to be looked at. */
  readonly onAll: () => void;
}

/** The objects of definitions as they are, and the CRD that they need. */
export class ObjectWatch {
  readonly #options: ObjectWatchOptions;
  #objects: Informer | undefined;
  /** Ends what follows the objects. */
  #unsubscribe: readonly (() => void)[] = [];
  /** Is it known whether there are objects? */
  #isDecided = false;

  constructor(options: ObjectWatchOptions) {
    this.#options = options;
  }

  /** `none`: there are no objects, and we may not change that; `unknown`: not yet known, or not at the moment. */
  get state(): 'synced' | 'none' | 'unknown' {
    if (this.#objects === undefined) return this.#isDecided ? 'none' : 'unknown';
    return this.#objects.state.kind === 'synced' ? 'synced' : 'unknown';
  }

  get(name: string): StoredObject | undefined {
    return this.#objects?.get(undefined, name);
  }

  *list(): Iterable<StoredObject> {
    if (this.#objects !== undefined) yield* this.#objects.list();
  }

  /** Resolves when it is known what there is: nothing, where the kind is still to be brought. */
  async start(signal: AbortSignal): Promise<void> {
    if (await this.#isServed(signal)) await this.#follow(signal);
  }

  /** Installs the CRD, and again whenever it is gone; looks again now and then where it may not. Until the signal aborts. */
  async keepCrd(signal: AbortSignal): Promise<void> {
    const { logger, clock } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#bringCrd(signal);
        failures = 0;
        if (this.#objects === undefined) await clock.sleep(permanentMs, signal);
        else await whenLost(this.#objects, signal);
      } catch (error) {
        if (signal.aborted) return;
        const level = failures === 0 ? 'warn' : 'debug';
        logger[level](failureFields(error), 'CRD of definitions cannot be installed, will retry');
        await clock.sleep(backoffMs(failures++, retry), signal).catch(() => {});
      }
    }
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#unsubscribe = [];
    this.#objects?.release();
    this.#objects = undefined;
  }

  async #bringCrd(signal: AbortSignal): Promise<void> {
    const { troubles, onAll } = this.#options;
    const isServed = await bringDefinitionCrd(this.#options, signal);
    if (isServed) {
      troubles.end();
      await this.#follow(signal);
    } else troubles.tell(missingCrdText);
    this.#isDecided = true;
    onAll();
  }

  /** Watches the objects, unless that is forbidden. Resolves when it is known which. */
  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#objects !== undefined) return;
    const { cluster, onEvent, onAll, troubles } = this.#options;
    const objects = cluster.acquire({ gvk: definitionGvk });
    this.#objects = objects;
    this.#unsubscribe = [
      objects.subscribe(onEvent),
      objects.onState((state) => state.kind === 'synced' && onAll()),
    ];
    await settled(objects, signal);
    const { state } = objects;
    if (state.kind !== 'failing' || !isForbidden(objects)) return;
    // Whoever may not see them does without: an informer would go on asking for the right.
    this.stop();
    troubles.tell(wordsOf(state.error));
  }

  async #isServed(signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#options.cluster.lookUp(definitionGvk, signal)) !== undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      // Nobody knows: then it is waited for.
      return true;
    }
  }
}

function isForbidden(objects: Informer | undefined): boolean {
  const state = objects?.state;
  return state?.kind === 'failing' && state.error.code === 'forbidden';
}

/** Resolves when a kind that was served is not any more. */
function whenLost(objects: Informer, signal: AbortSignal): Promise<void> {
  let wasSynced = false;
  return whenState(objects, signal, (state) => {
    if (isKindMissing(state) && wasSynced) return true;
    wasSynced ||= state.kind === 'synced';
    return false;
  });
}
