import type { CacheEvent, Informer } from '#kube/roles.ts';
import { isKindMissing, untilInformer } from '#reconcile';
import type { Logger } from '#telemetry/roles.ts';
import { anySignal } from '#util/any-signal.ts';
import type { Clock } from '#util/clock.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { errorMessage } from '../error-message.ts';
import type { RuntimeCluster } from '../runner-options.ts';
import { retryUntilDone } from '../waits.ts';
import { installOwnCrd, type OwnKind } from './own-kind.ts';

/** Time to install a lost kind again and to publish its objects anew. */
const goneAfterMs = 30_000;
/** Time to list an installed kind; afterwards its CRD is checked again. */
const listAfterMs = 10_000;

/** Cached objects of a kind of Homeostat. */
export interface OwnObjects {
  /** Whether the cache is complete. */
  readonly isSynced: boolean;
  /** Whether the API server stopped serving the kind more than 30 s ago. */
  readonly isGone: boolean;
  get(name: string): KubeObject | undefined;
  list(): Iterable<KubeObject>;
}

interface OwnObjectInformerOptions {
  readonly kind: OwnKind;
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onEvent: (event: CacheEvent) => void;
  /** Call when every object may have changed. */
  readonly onSynced: () => void;
  /** Called when {@link OwnObjects.isGone} becomes true. @default nothing */
  readonly onGone?: () => void;
}

/** Watches the objects of a kind of Homeostat and installs their CRD. */
export class OwnObjectInformer implements OwnObjects {
  readonly #options: OwnObjectInformerOptions;
  #objects: Informer | undefined;
  #unsubscribe: readonly (() => void)[] = [];
  #installError: string | undefined;
  #isGone = false;
  /** Set while the kind is lost. */
  #cancelGone: (() => void) | undefined;

  constructor(options: OwnObjectInformerOptions) {
    this.#options = options;
  }

  get isSynced(): boolean {
    return this.#objects?.state.kind === 'synced';
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Why the objects cannot be read, as a message. Undefined: no error. */
  get error(): string | undefined {
    const state = this.#objects?.state;
    if (state?.kind !== 'failing') return this.#installError;
    return errorMessage(state.error);
  }

  get(name: string): KubeObject | undefined {
    return this.#objects?.get(undefined, name)?.object;
  }

  *list(): Iterable<KubeObject> {
    for (const { object } of this.#objects?.list() ?? []) yield object;
  }

  /** Installs the CRD, again after it is deleted, and watches the objects. Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { kind } = this.#options;
    while (!signal.aborted) {
      await retryUntilDone(() => installOwnCrd(kind, this.#options, signal), {
        ...this.#options,
        signal,
        message: 'A CustomResourceDefinition of Homeostat cannot be installed, will retry',
        fields: { kind: kind.gvk.kind },
        onFailure: (error) => {
          this.#installError = errorMessage(error);
        },
      });
      if (signal.aborted) break;
      this.#installError = undefined;
      await this.#whenLost(this.#follow(), signal).catch(() => {});
      if (!signal.aborted) this.#noteLost();
    }
    this.#noteServed();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#objects?.release();
  }

  /** Resolves when the kind is not served: the CRD was deleted, possibly before the objects were listed. */
  async #whenLost(objects: Informer, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const isMissing = () => isKindMissing(objects);
    if (isMissing()) {
      const late = new AbortController();
      const cancel = clock.after(listAfterMs, () => late.abort());
      const waiting = anySignal([signal, late.signal]);
      await untilInformer(objects, waiting, () => !isMissing() || undefined).catch(() => {});
      cancel();
    }
    await untilInformer(objects, signal, () => isMissing() || undefined);
  }

  #noteLost(): void {
    const { clock, onGone } = this.#options;
    this.#cancelGone ??= clock.after(goneAfterMs, () => {
      this.#isGone = true;
      onGone?.();
    });
  }

  #noteServed(): void {
    this.#cancelGone?.();
    this.#cancelGone = undefined;
    this.#isGone = false;
  }

  #follow(): Informer {
    if (this.#objects !== undefined) return this.#objects;
    const { cluster, kind, onEvent, onSynced: onAll } = this.#options;
    const objects = cluster.acquire({ gvk: kind.gvk });
    this.#objects = objects;
    this.#unsubscribe = [
      objects.subscribe(onEvent),
      objects.onState((state) => {
        if (state.kind !== 'synced') return;
        this.#noteServed();
        onAll();
      }),
    ];
    return objects;
  }
}
