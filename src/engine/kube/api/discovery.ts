import type { Clock } from '#util/clock.ts';
import { apiVersionOf, type GroupKind, type Gvk } from '#util/gvk.ts';
import type { CacheBudget } from '../cache/cache-budget.ts';
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

interface DiscoveryOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  /** Measures what is kept. @default none */
  readonly budget?: Pick<CacheBudget, 'keep'>;
}

/** Discovery with a cache that can be invalidated. */
export interface CachedDiscovery extends Discovery, KindFinder {
  /** Reads the documents of all groups. @throws KubeError */
  prime(signal: AbortSignal): Promise<void>;
  /** Marks the kinds of a group as stale: the next `lookUp` queries the server. `resourceFor` returns cached kinds until then. */
  invalidate(group: string): void;
  /** A kind by its plural, as errors name it, from cached documents. Undefined: it is not known. */
  withPlural(group: string, plural: string): ResourceType | undefined;
  /** Removes a kind whose path returned 404: it is looked up again before the next request. */
  forget(gvk: Gvk): void;
}

/** For components that send requests to kinds. */
export type PathDiscovery = Pick<
  CachedDiscovery,
  'resourceFor' | 'lookUp' | 'forget' | 'withPlural'
>;

const flow = { name: 'discovery', priority: 'object' } as const;

/**
 * Backoff of queries for one group version: a new kind is served within moments, a missing one must not be queried
 * continuously.
 */
const queryBackoff = { baseMs: 25, maxMs: 1_000, resetAfterMs: 10_000 };

/**
 * Creates the discovery of one cluster: two requests for all groups (aggregated discovery), then single group
 * versions for unknown kinds.
 */
export function createDiscovery(options: DiscoveryOptions): CachedDiscovery {
  return new DocumentDiscovery(options);
}

interface KnownGroupVersion {
  readonly group: string;
  readonly kinds: Map<string, ResourceType>;
  isStale: boolean;
}

class DocumentDiscovery implements CachedDiscovery {
  readonly #api: ApiClient;
  readonly #clock: Clock;
  readonly #budget: DiscoveryOptions['budget'];
  readonly #known = new Map<string, KnownGroupVersion>();
  readonly #queries = new Map<string, { readonly atMs: number; readonly gapMs: number }>();
  readonly #primeCalls = new SharedCalls<void>();
  readonly #queryCalls = new SharedCalls<void>();
  #isPrimed = false;

  constructor({ api, clock, budget }: DiscoveryOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#budget = budget;
  }

  resourceFor(gvk: Gvk): ResourceType | undefined {
    return this.#known.get(apiVersionOf(gvk))?.kinds.get(gvk.kind);
  }

  async lookUp(gvk: Gvk, signal: AbortSignal): Promise<ResourceType | undefined> {
    if (!this.#isPrimed) await this.prime(signal);
    const known = this.#known.get(apiVersionOf(gvk));
    const type = known?.kinds.get(gvk.kind);
    if (type !== undefined && known?.isStale === false) return type;
    await this.#queryCalls.run(apiVersionOf(gvk), (shared) => this.#query(gvk, shared), signal);
    return this.resourceFor(gvk);
  }

  async findKind(
    { group, kind }: GroupKind,
    signal: AbortSignal,
  ): Promise<ResourceType | undefined> {
    const known = this.#servedAs({ group, kind });
    if (known !== undefined) return known;
    // The version is unknown, so only the whole list can show a new kind.
    await this.prime(signal);
    const found = this.#servedAs({ group, kind });
    if (found !== undefined) return found;
    // The list lacks groups whose server is down, and all groups without aggregated discovery: check them before
    // reporting the kind as missing.
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

  /** Documents list the preferred version of a group first. */
  #servedAs({ group, kind }: GroupKind): ResourceType | undefined {
    for (const { kinds, isStale } of this.#known.values()) {
      const type = kinds.get(kind);
      if (!isStale && type?.gvk.group === group) return type;
    }
    return undefined;
  }

  withPlural(group: string, plural: string): ResourceType | undefined {
    for (const known of this.#known.values()) {
      if (known.group !== group || known.isStale) continue;
      for (const type of known.kinds.values()) if (type.plural === plural) return type;
    }
    return undefined;
  }

  prime(signal: AbortSignal): Promise<void> {
    return this.#primeCalls.run('', (shared) => this.#readAll(shared), signal);
  }

  invalidate(group: string): void {
    for (const known of this.#known.values()) if (known.group === group) known.isStale = true;
  }

  forget(gvk: Gvk): void {
    this.#known.get(apiVersionOf(gvk))?.kinds.delete(gvk.kind);
  }

  /** Without aggregated discovery, group versions are read on demand. */
  async #readAll(signal: AbortSignal): Promise<void> {
    const accept = aggregatedAccept;
    const answers = await Promise.all(
      ['/api', '/apis'].map((path) =>
        this.#api.request({ method: 'GET', path, accept, flow }, signal),
      ),
    );
    for (const { body } of answers) {
      for (const found of readAggregated(body) ?? []) this.#addTypes(found);
    }
    this.#isPrimed = true;
  }

  async #query(gvk: Gvk, signal: AbortSignal): Promise<void> {
    const key = apiVersionOf(gvk);
    const { atMs = Number.NEGATIVE_INFINITY, gapMs = queryBackoff.baseMs } =
      this.#queries.get(key) ?? {};
    const sinceMs = this.#clock.monotonicMs() - atMs;
    // Wait instead of returning a stale result: the caller may have just installed the kind.
    if (sinceMs < gapMs) await this.#clock.sleep(gapMs - sinceMs, signal);
    this.#queries.set(key, {
      atMs: this.#clock.monotonicMs(),
      gapMs:
        sinceMs < queryBackoff.resetAfterMs
          ? Math.min(2 * gapMs, queryBackoff.maxMs)
          : queryBackoff.baseMs,
    });
    const request = { method: 'GET', path: groupVersionPath(gvk), flow } as const;
    try {
      const { body } = await this.#api.request(request, signal);
      this.#addTypes(readResourceList(gvk, body));
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'kind-missing') throw error;
      this.#known.delete(key);
      this.#budget?.keep(`discovery ${key}`, undefined);
    }
  }

  #addTypes({ group, version, types }: GroupVersionTypes): void {
    const kinds = new Map<string, ResourceType>();
    // The first entry of a kind is its collection; a group may serve the kind again under another name.
    for (const type of types) if (!kinds.has(type.gvk.kind)) kinds.set(type.gvk.kind, type);
    const key = apiVersionOf({ group, version });
    this.#known.set(key, { group, kinds, isStale: false });
    this.#budget?.keep(`discovery ${key}`, [...kinds]);
  }
}
