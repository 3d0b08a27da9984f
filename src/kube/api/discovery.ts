import type { Clock } from '../../util/clock.ts';
import { apiVersionOf, type GroupKind, type Gvk } from '../../util/gvk.ts';
import type { ApiClient } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import type { Discovery, KindFinder, ResourceType } from '../roles.ts';
import { SharedCalls } from '../shared-calls.ts';
import {
  aggregatedAccept,
  type GroupVersionTypes,
  readAggregated,
  readGroupVersions,
  readResourceList,
} from './discovery-documents.ts';
import { groupVersionPath } from './paths.ts';

export interface DiscoveryOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
}

/** Discovery with a cache that can be told to look again. */
export interface CachedDiscovery extends Discovery, KindFinder {
  /** Reads the documents of all groups. @throws KubeError */
  prime(signal: AbortSignal): Promise<void>;
  /** Each kind is asked for again at its next `lookUp`; `resourceFor` goes on with what is known until then. */
  invalidate(): void;
  /** The server denied a path of this kind: it is asked for anew before anything else is sent to it. */
  forget(gvk: Gvk): void;
}

/** For those that send requests to a kind: where it is served, and a way to say that it is not served there. */
export type PathDiscovery = Pick<CachedDiscovery, 'resourceFor' | 'lookUp' | 'forget'>;

const flow = { name: 'discovery', priority: 'world' } as const;

/** One group version is asked for at most this often. */
const minGapMs = 1_000;

/** Discovery of one cluster: all groups by two requests (aggregated discovery), then single group versions where a kind is unknown. */
export function createDiscovery(options: DiscoveryOptions): CachedDiscovery {
  return new DocumentDiscovery(options);
}

interface KnownGroupVersion {
  readonly kinds: Map<string, ResourceType>;
  isStale: boolean;
}

class DocumentDiscovery implements CachedDiscovery {
  readonly #api: ApiClient;
  readonly #clock: Clock;
  readonly #known = new Map<string, KnownGroupVersion>();
  readonly #askedAtMs = new Map<string, number>();
  readonly #priming = new SharedCalls<void>();
  readonly #asking = new SharedCalls<void>();
  #isPrimed = false;

  constructor({ api, clock }: DiscoveryOptions) {
    this.#api = api;
    this.#clock = clock;
  }

  resourceFor(gvk: Gvk): ResourceType | undefined {
    return this.#known.get(apiVersionOf(gvk))?.kinds.get(gvk.kind);
  }

  async lookUp(gvk: Gvk, signal: AbortSignal): Promise<ResourceType | undefined> {
    if (!this.#isPrimed) await this.prime(signal);
    const known = this.#known.get(apiVersionOf(gvk));
    const type = known?.kinds.get(gvk.kind);
    if (type !== undefined && known?.isStale === false) return type;
    await this.#asking.run(apiVersionOf(gvk), (shared) => this.#ask(gvk, shared), signal);
    return this.resourceFor(gvk);
  }

  async findKind(
    { group, kind }: GroupKind,
    signal: AbortSignal,
  ): Promise<ResourceType | undefined> {
    const known = this.#servedAs({ group, kind });
    if (known !== undefined) return known;
    // Whether it has come since is asked of the whole list: nobody knows its version.
    await this.prime(signal);
    const found = this.#servedAs({ group, kind });
    if (found !== undefined) return found;
    // Left out are groups whose server is down, and all where the server has no aggregated discovery: never taken for gone.
    for (const version of await this.#versionsOf(group, signal)) {
      const type = await this.lookUp({ group, version, kind }, signal);
      if (type !== undefined) return type;
    }
    return undefined;
  }

  /** The versions of a group, the preferred one first; none when there is no such group. */
  async #versionsOf(group: string, signal: AbortSignal): Promise<readonly string[]> {
    if (group === '') return ['v1'];
    const path = `/apis/${encodeURIComponent(group)}`;
    try {
      const { body } = await this.#api.request({ method: 'GET', path, flow }, signal);
      return readGroupVersions(body);
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 404) throw error;
      return [];
    }
  }

  /** The documents name the preferred version of a group first. */
  #servedAs({ group, kind }: GroupKind): ResourceType | undefined {
    for (const { kinds, isStale } of this.#known.values()) {
      const type = kinds.get(kind);
      if (!isStale && type?.gvk.group === group) return type;
    }
    return undefined;
  }

  prime(signal: AbortSignal): Promise<void> {
    return this.#priming.run('', (shared) => this.#readAll(shared), signal);
  }

  invalidate(): void {
    for (const known of this.#known.values()) known.isStale = true;
  }

  forget(gvk: Gvk): void {
    this.#known.get(apiVersionOf(gvk))?.kinds.delete(gvk.kind);
  }

  /** Where the server has no aggregated discovery, group versions are asked for one by one as they are needed. */
  async #readAll(signal: AbortSignal): Promise<void> {
    const accept = aggregatedAccept;
    const answers = await Promise.all(
      ['/api', '/apis'].map((path) =>
        this.#api.request({ method: 'GET', path, accept, flow }, signal),
      ),
    );
    for (const { body } of answers) {
      for (const found of readAggregated(body) ?? []) this.#learn(found);
    }
    this.#isPrimed = true;
  }

  async #ask(gvk: Gvk, signal: AbortSignal): Promise<void> {
    const key = apiVersionOf(gvk);
    const askedAtMs = this.#askedAtMs.get(key);
    const gapMs = askedAtMs === undefined ? minGapMs : this.#clock.monotonicMs() - askedAtMs;
    // Waiting rather than answering from before: who asks may just have installed the kind.
    if (gapMs < minGapMs) await this.#clock.sleep(minGapMs - gapMs, signal);
    this.#askedAtMs.set(key, this.#clock.monotonicMs());
    const request = { method: 'GET', path: groupVersionPath(gvk), flow } as const;
    try {
      const { body } = await this.#api.request(request, signal);
      this.#learn(readResourceList(gvk, body));
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'kind-missing') throw error;
      this.#known.delete(key);
    }
  }

  #learn({ group, version, types }: GroupVersionTypes): void {
    const kinds = new Map<string, ResourceType>();
    // The first of a kind is its collection; a group may serve the same kind again as something else.
    for (const type of types) if (!kinds.has(type.gvk.kind)) kinds.set(type.gvk.kind, type);
    this.#known.set(apiVersionOf({ group, version }), { kinds, isStale: false });
  }
}
