import { lookup as systemLookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { Clock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { pause } from '#util/pause.ts';
import { familyOf, withoutBrackets } from '../client/ip-address.ts';
import type { Informer, Watcher } from '../roles.ts';

interface ApiServerAddressesOptions {
  readonly cluster: Watcher;
  /** URL of the API server. Undefined: it is one of this process, and needs no protection. */
  readonly server: string | undefined;
  readonly clock: Clock;
  /** All addresses of a name. @default that of the system */
  readonly lookup?: (name: string) => Promise<readonly string[]>;
}

const sliceGvk = gvkOf('discovery.k8s.io/v1', 'EndpointSlice');
/** Between two resolutions of the name of the server. */
const refreshMs = 300_000;

/**
 * The addresses of the API server and of this Pod: requests for tenants must not reach them, because they would come from this Pod. Watches
 * the Service `kubernetes`, and resolves the name of the server.
 */
export class ApiServerAddresses {
  readonly #options: ApiServerAddressesOptions;
  #resolved: readonly string[] = [];
  #slices: Iterable<{ readonly object: KubeObject }> = [];

  constructor(options: ApiServerAddressesOptions) {
    this.#options = options;
  }

  /** Of now. */
  get current(): readonly string[] {
    const slices = [...this.#slices].flatMap(({ object }) => addressesOf(object));
    return [...slices, ...this.#resolved, ...ownAddresses()];
  }

  /** Calls `ready` once when the addresses are known, as far as they can be; runs until the signal aborts. */
  async run(ready: () => void, signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#options;
    const slices = cluster.acquire({
      gvk: sliceGvk,
      namespace: 'default',
      labelSelector: 'kubernetes.io/service-name=kubernetes',
    });
    this.#slices = { [Symbol.iterator]: () => slices.list()[Symbol.iterator]() };
    try {
      await Promise.all([this.#resolve(), untilKnown(slices, signal)]);
      ready();
      while (!signal.aborted) {
        await pause(clock, refreshMs, signal);
        if (!signal.aborted) await this.#resolve();
      }
    } finally {
      slices.release();
    }
  }

  /** Keeps the previous addresses if the name cannot be resolved now. */
  async #resolve(): Promise<void> {
    const { server, lookup = systemAddresses } = this.#options;
    if (server === undefined) return;
    const host = withoutBrackets(new URL(server).hostname);
    if (familyOf(host) !== undefined) this.#resolved = [host];
    else this.#resolved = await lookup(host).catch(() => this.#resolved);
  }
}

/** Resolves when the informer has synced or failed, or the signal aborts. */
function untilKnown(informer: Informer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      if (informer.state.kind === 'waiting' && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const unsubscribe = informer.onState(settle);
    signal.addEventListener('abort', settle, { once: true });
    settle();
  });
}

async function systemAddresses(name: string): Promise<readonly string[]> {
  const found = await systemLookup(name, { all: true });
  return found.map(({ address }) => address);
}

function addressesOf({ endpoints }: KubeObject): readonly string[] {
  const list: readonly unknown[] = Array.isArray(endpoints) ? endpoints : [];
  return list.flatMap((endpoint) => {
    const { addresses } = isJsonObject(endpoint) ? endpoint : {};
    return Array.isArray(addresses) ? addresses.filter((each) => typeof each === 'string') : [];
  });
}

/** Loopback is protected in any case. */
function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ internal }) => !internal).map(({ address }) => address),
  );
}
