import { type Informer, KubeError } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { errorMessage } from '../error-message.ts';
import { leaseGvk, recordOf } from '../leadership/lease.ts';
import { hubAnnotation } from '../objects/names.ts';
import type { RuntimeCluster } from '../runner-options.ts';
import { retryUntilDone } from '../waits.ts';

/** Whether this hub may serve a definition in a member. */
export type ClaimState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'held' }
  /** Another hub serves it. */
  | { readonly kind: 'taken'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string; readonly isForbidden: boolean };

interface LeaseClaimOptions {
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly definition: string;
  /** UID of the hub. */
  readonly hub: string;
  readonly onChange: () => void;
}

/** Of Leases in members: exists in every cluster. */
const namespace = 'kube-system';

/**
 * A Lease in a member that says which hub serves a definition. It is not renewed: it is held until it is released or
 * deleted, because the objects of a definition stay, too, when its hub is gone.
 */
export class LeaseClaim {
  readonly #options: LeaseClaimOptions;
  readonly #name: string;
  readonly #stopper = new AbortController();
  #leases: Informer | undefined;
  #stops: readonly (() => void)[] = [];
  #state: ClaimState = { kind: 'pending' };
  #isCreating = false;

  constructor(options: LeaseClaimOptions) {
    this.#options = options;
    this.#name = leaseNameOf(options.definition);
  }

  get state(): ClaimState {
    return this.#state;
  }

  /** Claims the Lease, and watches it. */
  start(): void {
    const leases = this.#options.cluster.acquire({
      gvk: leaseGvk,
      namespace,
      fieldSelector: `metadata.name=${this.#name}`,
    });
    this.#leases = leases;
    const check = () => this.#check();
    this.#stops = [leases.subscribe(check), leases.onState(check)];
    check();
  }

  /** Deletes the Lease. @throws KubeError */
  async release(signal: AbortSignal): Promise<void> {
    const uid = this.#live?.metadata.uid;
    const isOurs = this.#state.kind === 'held' && uid !== undefined;
    this.stop();
    if (!isOurs) return;
    const ref = { gvk: leaseGvk, namespace, name: this.#name };
    await this.#options.cluster.delete(ref, { uid, flow: this.#flow }, signal);
  }

  /** Stops watching. The Lease stays. */
  stop(): void {
    this.#stopper.abort(new Error('The claim has stopped'));
    for (const stop of this.#stops) stop();
    this.#leases?.release();
  }

  get #live(): KubeObject | undefined {
    return this.#leases?.get(namespace, this.#name)?.object;
  }

  get #flow() {
    return { name: this.#options.definition, priority: 'object' } as const;
  }

  #check(): void {
    const state = this.#leases?.state;
    if (this.#stopper.signal.aborted || state === undefined || state.kind === 'waiting') return;
    if (state.kind === 'failing') {
      this.#fail(state.error);
      return;
    }
    const live = this.#live;
    if (live === undefined) {
      this.#create();
      return;
    }
    const { holder } = recordOf(live);
    if (holder === this.#options.hub) {
      this.#setState({ kind: 'held' });
      return;
    }
    const message = `The hub "${holder}" serves it there; to take it over, stop it there and delete the Lease "${this.#name}" in namespace "${namespace}"`;
    this.#setState({ kind: 'taken', message });
  }

  #create(): void {
    if (this.#isCreating) return;
    this.#isCreating = true;
    const { cluster, clock, logger, definition } = this.#options;
    const { signal } = this.#stopper;
    void retryUntilDone(() => this.#apply(signal), {
      ...{ cluster, clock, logger, signal, fields: { definition } },
      message: 'The Lease of a definition in a member cluster cannot be created, will retry',
      onFailure: (error) => this.#fail(error),
    }).then(() => {
      this.#isCreating = false;
    });
  }

  /** @throws KubeError */
  async #apply(signal: AbortSignal): Promise<void> {
    const { cluster, hub, definition } = this.#options;
    const lease = {
      apiVersion: apiVersionOf(leaseGvk),
      kind: leaseGvk.kind,
      metadata: {
        namespace,
        name: this.#name,
        // Only creates it.
        resourceVersion: '1',
        labels: { 'homeostat.dev/definition': definition },
        annotations: { [hubAnnotation]: hub },
      },
      spec: { holderIdentity: hub },
    };
    try {
      const options = { fieldManager: 'homeostat/members', force: true, flow: this.#flow };
      await cluster.apply(lease, options, signal);
    } catch (error) {
      // An event shows whose it is.
      if (!(error instanceof KubeError) || error.code !== 'already-exists') throw error;
    }
  }

  #fail(error: unknown): void {
    const isForbidden = error instanceof KubeError && error.code === 'forbidden';
    this.#setState({ kind: 'failed', message: errorMessage(error), isForbidden });
  }

  #setState(state: ClaimState): void {
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return;
    this.#state = state;
    this.#options.onChange();
  }
}

/** Names of Leases have at most 63 characters here, as names of definitions have. */
function leaseNameOf(definition: string): string {
  const name = `homeostat-${definition}`;
  return name.length <= 63 ? name : `homeostat-${sha256Hex(definition).slice(0, 40)}`;
}
