import { KubeError } from '#kube/roles.ts';
import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { foreignText } from '#util/foreign-text.ts';
import { apiVersionOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';
import { definitionLabel, hubAnnotation } from '#util/stored-names.ts';
import { errorMessage, isMissingRight } from '../error-message.ts';
import { leaseGvk, recordOf } from '../leadership/lease.ts';
import { type ObjectWatch, watchObject } from '../objects/watch-object.ts';
import type { RuntimeCluster } from '../runner-options.ts';
import { retryUntilDone } from '../waits.ts';

/** Whether this hub may serve a definition in a member. */
type ClaimState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'held' }
  /** Another hub serves it. */
  | { readonly kind: 'taken'; readonly message: string }
  /** `isForbidden`: the runtime lacks a right. */
  | { readonly kind: 'failed'; readonly message: string; readonly isForbidden?: true };

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
  #lease: ObjectWatch | undefined;
  /** As it was seen last: one that was deleted counts until it is created again. */
  #seen: KubeObject | undefined;
  #isCreating = false;
  /** Why it could not be created last. */
  #error: unknown;

  constructor(options: LeaseClaimOptions) {
    this.#options = options;
    this.#name = leaseNameOf(options.definition);
  }

  get state(): ClaimState {
    const { state } = this.#lease ?? {};
    const error = state?.kind === 'failing' ? state.error : this.#error;
    if (error !== undefined) return failed(error);
    if (this.#seen === undefined) return { kind: 'pending' };
    const { holder } = recordOf(this.#seen);
    if (holder === this.#options.hub) return { kind: 'held' };
    const message = `The hub "${foreignText(holder, 64)}" serves it there; to take it over, stop it there and delete the Lease "${this.#name}" in namespace "${namespace}"`;
    return { kind: 'taken', message };
  }

  /** Claims the Lease, and watches it. */
  start(): void {
    const ref = { gvk: leaseGvk, namespace, name: this.#name };
    this.#lease = watchObject(this.#options.cluster, ref, () => this.#check());
    this.#check();
  }

  /** Deletes the Lease. @throws KubeError */
  async release(signal: AbortSignal): Promise<void> {
    const lease = this.#lease?.object;
    const isHeld = this.state.kind === 'held';
    this.stop();
    if (isHeld) await deleteLease(this.#options, lease, signal);
  }

  /** Stops watching. The Lease stays. */
  stop(): void {
    this.#stopper.abort(new Error('The claim has stopped'));
    this.#lease?.stop();
  }

  #check(): void {
    if (this.#stopper.signal.aborted) return;
    const { object, state } = this.#lease ?? {};
    this.#seen = object ?? this.#seen;
    if (object !== undefined) this.#error = undefined;
    else if (state?.kind === 'synced') this.#create();
    this.#options.onChange();
  }

  #create(): void {
    if (this.#isCreating) return;
    this.#isCreating = true;
    const { cluster, clock, logger, definition } = this.#options;
    const { signal } = this.#stopper;
    void retryUntilDone(() => this.#apply(signal), {
      cluster,
      clock,
      logger,
      signal,
      fields: { definition },
      message: 'The Lease of a definition in a member cluster cannot be created, will retry',
      onFailure: (error) => {
        this.#error = error;
        this.#options.onChange();
      },
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
        labels: { [definitionLabel]: definition },
        annotations: { [hubAnnotation]: hub },
      },
      spec: { holderIdentity: hub },
    };
    try {
      const options = { fieldManager: 'homeostat/members', force: true, flow: flowOf(definition) };
      await cluster.apply(lease, options, signal);
    } catch (error) {
      // An event shows whose it is.
      if (!(error instanceof KubeError) || error.code !== 'already-exists') throw error;
    }
  }
}

type Held = Pick<LeaseClaimOptions, 'cluster' | 'definition' | 'hub'>;

/** Deletes the Lease of a definition that no claim watches, if the hub has it. @throws KubeError */
export async function releaseLease(held: Held, signal: AbortSignal): Promise<void> {
  const { cluster, definition } = held;
  const ref = { gvk: leaseGvk, namespace, name: leaseNameOf(definition) };
  const lease = await cluster.get(ref, { flow: flowOf(definition) }, signal);
  await deleteLease(held, lease?.object, signal);
}

async function deleteLease(
  { cluster, definition, hub }: Held,
  lease: KubeObject | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { uid, name = '' } = lease?.metadata ?? {};
  if (lease === undefined || uid === undefined || recordOf(lease).holder !== hub) return;
  const options = { uid, flow: flowOf(definition) };
  await cluster.delete({ gvk: leaseGvk, namespace, name }, options, signal);
}

function flowOf(definition: string) {
  return { name: definition, priority: 'object' } as const;
}

function failed(error: unknown): ClaimState {
  const isForbidden = isMissingRight(error);
  return { kind: 'failed', message: errorMessage(error), ...(isForbidden && { isForbidden }) };
}

/** Names of Leases have at most 63 characters here, as names of definitions have. */
function leaseNameOf(definition: string): string {
  const name = `homeostat-${definition}`;
  return name.length <= 63 ? name : `homeostat-${sha256Hex(definition).slice(0, 40)}`;
}
