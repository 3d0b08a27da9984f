import type { Clock } from '../../util/clock.ts';
import type { Gvk } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import type { ApiClient } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import type { KindSchema } from '../roles.ts';
import { SharedCalls } from '../shared-calls.ts';
import { extractKindSchema } from './kind-schema.ts';
import { groupVersionPath } from './paths.ts';

export interface OpenApiOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
}

/** Schemas of kinds, from the server's OpenAPI v3 documents. */
export interface OpenApi {
  /**
   * The schema of a kind. Undefined: not known to the server, or not yet; a new CRD's schema comes about a second after
   * its kind is served. A document is read again only when its hash has changed.
   * @throws KubeError
   */
  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined>;
}

/** The sandbox can leave descriptions out, which are most of a document and of no use here; others send what they have. */
const accept = 'application/json;descriptions=none, application/json';

const flow = { name: 'openapi', priority: 'world' } as const;

/** The index is asked for at most this often: it is the same for all kinds. */
const indexAgeMs = 1_000;

/** Documents are large (core/v1: 1.6 MB). */
const documentTimeoutMs = 60_000;

/** The OpenAPI documents of one cluster. Keeps the schemas that were asked for, never whole documents. */
export function createOpenApi(options: OpenApiOptions): OpenApi {
  return new IndexedOpenApi(options);
}

/** Hashes of documents by group version path (`apis/apps/v1`); an empty one where the server tells none. */
type Index = ReadonlyMap<string, string>;

interface KnownDocument {
  readonly hash: string;
  readonly kinds: Map<string, KindSchema | undefined>;
}

class IndexedOpenApi implements OpenApi {
  readonly #api: ApiClient;
  readonly #clock: Clock;
  readonly #documents = new Map<string, KnownDocument>();
  readonly #indexCalls = new SharedCalls<Index>();
  readonly #documentCalls = new SharedCalls<unknown>();
  #index: { readonly entries: Index; readonly readAtMs: number } | undefined;

  constructor({ api, clock }: OpenApiOptions) {
    this.#api = api;
    this.#clock = clock;
  }

  async fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined> {
    const entry = groupVersionPath(gvk).slice(1);
    const hash = (await this.#readIndex(signal)).get(entry);
    if (hash === undefined) {
      this.#documents.delete(entry);
      return undefined;
    }
    const known = this.#documents.get(entry);
    if (hash !== '' && known?.hash === hash && known.kinds.has(gvk.kind))
      return known.kinds.get(gvk.kind);
    const read = (shared: AbortSignal) => this.#readDocument(entry, shared);
    const document = await this.#documentCalls.run(`${entry}#${hash}`, read, signal);
    const schema = extractKindSchema(document, gvk);
    this.#remember(entry, hash).kinds.set(gvk.kind, schema);
    return schema;
  }

  #remember(entry: string, hash: string): KnownDocument {
    const known = this.#documents.get(entry);
    if (known?.hash === hash) return known;
    const document = { hash, kinds: new Map<string, KindSchema | undefined>() };
    this.#documents.set(entry, document);
    return document;
  }

  async #readIndex(signal: AbortSignal): Promise<Index> {
    const index = this.#index;
    if (index !== undefined && this.#clock.monotonicMs() - index.readAtMs < indexAgeMs)
      return index.entries;
    return this.#indexCalls.run('', (shared) => this.#fetchIndex(shared), signal);
  }

  async #fetchIndex(signal: AbortSignal): Promise<Index> {
    const readAtMs = this.#clock.monotonicMs();
    const { body } = await this.#api.request({ method: 'GET', path: '/openapi/v3', flow }, signal);
    const entries = readIndex(body);
    this.#index = { entries, readAtMs };
    return entries;
  }

  async #readDocument(entry: string, signal: AbortSignal): Promise<unknown> {
    // Not the server's URL: it carries the prefix of a server that has one, and so does our client.
    const path = `/openapi/v3/${entry}`;
    // Nor its hash: to one that is not the newest it answers with a redirection.
    const request = { method: 'GET', path, accept, flow, timeoutMs: documentTimeoutMs } as const;
    try {
      return (await this.#api.request(request, signal)).body;
    } catch (error) {
      // Gone since the index was read.
      if (error instanceof KubeError && error.code === 'kind-missing') return undefined;
      throw error;
    }
  }
}

function readIndex(body: unknown): Index {
  const paths = isJsonObject(body) && isJsonObject(body.paths) ? body.paths : {};
  const entries = new Map<string, string>();
  for (const [entry, value] of Object.entries(paths)) {
    const url = isJsonObject(value) ? value.serverRelativeURL : undefined;
    const query = typeof url === 'string' ? url.slice(url.indexOf('?') + 1) : '';
    entries.set(entry, new URLSearchParams(query).get('hash') ?? '');
  }
  return entries;
}
