import type { Clock } from '#util/clock.ts';
import type { Gvk } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { CacheBudget } from '../cache/cache-budget.ts';
import type { ApiClient } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import type { KindSchema } from '../roles.ts';
import { SharedCalls } from '../shared-calls.ts';
import { groupVersionPath } from './paths.ts';

export interface OpenApiOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  /** Measures what is kept. @default none */
  readonly budget?: Pick<CacheBudget, 'keep'>;
}

/** Schemas of kinds, from the server's OpenAPI v3 documents. */
export interface OpenApi {
  /**
   * The schema of a kind. Undefined: unknown to the server, or not yet published; the schema of a new CRD follows
   * about a second after its kind. A document is read again only if its hash has changed.
   * @throws KubeError
   */
  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined>;
}

/** The sandbox can omit descriptions, which are most of a document and not needed. Other servers ignore the parameter. */
const accept = 'application/json;descriptions=none, application/json';

const flow = { name: 'openapi', priority: 'object' } as const;

/** The index is shared by all kinds and read at most this often. */
const indexAgeMs = 1_000;

/** Documents are large (core/v1: 1.6 MB). */
const documentTimeoutMs = 60_000;

/** Creates the OpenAPI access of one cluster. It caches requested schemas, not whole documents. */
export function createOpenApi(options: OpenApiOptions): OpenApi {
  return new IndexedOpenApi(options);
}

/** Hashes of documents by group version path (`apis/apps/v1`); empty if the server does not provide them. */
type Index = ReadonlyMap<string, string>;

interface KnownDocument {
  readonly hash: string;
  readonly kinds: Map<string, KindSchema | undefined>;
}

class IndexedOpenApi implements OpenApi {
  readonly #api: ApiClient;
  readonly #clock: Clock;
  readonly #budget: OpenApiOptions['budget'];
  readonly #documents = new Map<string, KnownDocument>();
  readonly #indexCalls = new SharedCalls<Index>();
  readonly #documentCalls = new SharedCalls<unknown>();
  #index: { readonly entries: Index; readonly readAtMs: number } | undefined;

  constructor({ api, clock, budget }: OpenApiOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#budget = budget;
  }

  async fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined> {
    const entry = groupVersionPath(gvk).slice(1);
    const hash = (await this.#readIndex(signal)).get(entry);
    if (hash === undefined) {
      this.#documents.delete(entry);
      this.#budget?.keep(`openapi ${entry}`, undefined);
      return undefined;
    }
    const known = this.#documents.get(entry);
    if (hash !== '' && known?.hash === hash && known.kinds.has(gvk.kind))
      return known.kinds.get(gvk.kind);
    const read = (shared: AbortSignal) => this.#readDocument(entry, shared);
    const document = await this.#documentCalls.run(`${entry}#${hash}`, read, signal);
    const schema = extractKindSchema(document, gvk);
    const { kinds } = this.#remember(entry, hash);
    kinds.set(gvk.kind, schema);
    this.#budget?.keep(`openapi ${entry}`, [...kinds]);
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
    this.#budget?.keep('openapi', [...entries]);
    return entries;
  }

  async #readDocument(entry: string, signal: AbortSignal): Promise<unknown> {
    // Not the URL of the index: it may contain the server's path prefix, which our client adds.
    const path = `/openapi/v3/${entry}`;
    // Without the hash: the server redirects outdated hashes.
    const request = { method: 'GET', path, accept, flow, timeoutMs: documentTimeoutMs } as const;
    try {
      return (await this.#api.request(request, signal)).body;
    } catch (error) {
      // Deleted since the index was read.
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

const referencePrefix = '#/components/schemas/';

/** Keywords whose values are not schemas. */
const valueKeys = new Set(['default', 'enum', 'example']);

/**
 * Extracts the schema of one kind from an OpenAPI v3 document: its component and all referenced components, without
 * descriptions. Undefined if the document does not contain the kind.
 */
export function extractKindSchema(document: unknown, gvk: Gvk): KindSchema | undefined {
  const schemas = schemasOf(document);
  const root = Object.keys(schemas).find((name) => isKind(schemas[name], gvk));
  if (root === undefined) return undefined;
  const components: Record<string, JsonObject> = {};
  const pending = [root];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const schema = schemas[name];
    if (Object.hasOwn(components, name) || !isJsonObject(schema)) continue;
    components[name] = withoutDescription(schema, pending);
  }
  return { root, components };
}

function schemasOf(document: unknown): JsonObject {
  const components = isJsonObject(document) ? document.components : undefined;
  const schemas = isJsonObject(components) ? components.schemas : undefined;
  return isJsonObject(schemas) ? schemas : {};
}

function isKind(schema: Json | undefined, { group, version, kind }: Gvk): boolean {
  const names = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
  // DeleteOptions and WatchEvent list every group: skip them.
  const [name] = Array.isArray(names) && names.length === 1 ? names : [];
  return (
    isJsonObject(name) && name.group === group && name.version === version && name.kind === kind
  );
}

/** Copies a schema and adds the names of referenced components to `found`. */
function withoutDescription(schema: JsonObject, found: string[]): JsonObject {
  const copy: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || (key === 'description' && typeof value === 'string')) continue;
    if (key === '$ref' && typeof value === 'string' && value.startsWith(referencePrefix))
      found.push(value.slice(referencePrefix.length));
    copy[key] = valueKeys.has(key) ? value : copySchema(key, value, found);
  }
  return copy;
}

function copySchema(key: string, value: Json, found: string[]): Json {
  if (Array.isArray(value)) return value.map((item: Json) => copySchema('', item, found));
  if (!isJsonObject(value)) return value;
  if (key !== 'properties') return withoutDescription(value, found);
  // These are user-defined names: a field can be called "description" or "default".
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, copySchema('', field ?? null, found)]),
  );
}
