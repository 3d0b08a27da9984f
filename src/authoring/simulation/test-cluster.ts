import { bundledSchemas, createSchemaCompiler, type SchemaType } from '#compile';
import { type KindInfo, listServedKinds, pathOf, type ServedKinds } from '#kube';
import { apiVersionOf, type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { TestApi } from './test-api.ts';

/** The namespace of a test's objects on a simulated cluster. */
const defaultNamespace = 'default';

const noKinds: ServedKinds = { preferred: [], others: [] };

/** A reference that names no object of a served kind. */
export class UnknownReferenceError extends Error {}

/** The cluster of one test, addressed as tests do: by manifests, and by `Kind/name`. */
export class TestCluster {
  readonly #api: TestApi;
  readonly #namespace: string;
  readonly #compiler = createSchemaCompiler();
  readonly #types = new Map<string, SchemaType | undefined>();
  #kinds: ServedKinds = noKinds;

  /** @param namespace of objects without one */
  constructor(api: TestApi, namespace = defaultNamespace) {
    this.#api = api;
    this.#namespace = namespace;
  }

  /** Applies an object as a user does, with `kubectl apply --server-side`. @throws KubeError, UnknownReferenceError */
  async apply(object: KubeObject): Promise<void> {
    const kind = await this.#kindOf(object.apiVersion, object.kind);
    const { name, namespace } = object.metadata;
    await this.#api.request({
      method: 'PATCH',
      path: this.#path(kind, name, namespace),
      query: { fieldManager: 'kubectl', force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: object,
    });
  }

  /** Applies a JSON merge patch. @throws KubeError, UnknownReferenceError */
  async patch(reference: string, merge: JsonObject, fieldManager: string): Promise<void> {
    await this.#api.request({
      method: 'PATCH',
      path: await this.pathOf(reference),
      query: { fieldManager },
      contentType: 'application/merge-patch+json',
      body: merge,
    });
  }

  /** @throws KubeError, UnknownReferenceError */
  async delete(reference: string): Promise<void> {
    await this.#api.request({ method: 'DELETE', path: await this.pathOf(reference) });
  }

  /** The object that a manifest names; undefined where there is none. */
  async find({ apiVersion, kind, metadata }: KubeObject): Promise<JsonObject | undefined> {
    const info = await this.#kindOf(apiVersion, kind);
    return this.#get(this.#path(info, metadata.name, metadata.namespace));
  }

  /** The object that a manifest names; without a name, or with a matcher for it, all of its kind in its namespace. */
  async findAll(manifest: KubeObject): Promise<readonly KubeObject[]> {
    const { name, namespace = this.#namespace }: Partial<KubeObject['metadata']> =
      manifest.metadata;
    if (typeof name === 'string') {
      const found = await this.find(manifest);
      return found === undefined ? [] : [found as unknown as KubeObject];
    }
    const info = await this.#kindOf(manifest.apiVersion, manifest.kind);
    const all = await this.list(info);
    return all.filter(({ metadata }) => !info.namespaced || metadata.namespace === namespace);
  }

  /** The object of a reference such as `Deployment/web`; undefined where there is none. @throws UnknownReferenceError */
  async findByReference(reference: string): Promise<JsonObject | undefined> {
    return this.#get(await this.pathOf(reference));
  }

  /** @throws UnknownReferenceError */
  async pathOf(reference: string): Promise<string> {
    const [kind = '', ...rest] = reference.split('/');
    const [namespace, name] = rest.length === 1 ? [undefined, rest[0]] : rest;
    const info = await this.kindNamed(kind);
    if (info === undefined)
      throw new UnknownReferenceError(`The server does not serve kind "${kind}"`);
    return this.#path(info, name ?? '', namespace);
  }

  /** All objects of all kinds that can be listed, but Events. */
  async all(): Promise<readonly KubeObject[]> {
    const objects: KubeObject[] = [];
    for (const kind of (await this.#served()).preferred) {
      if (!kind.verbs.includes('list') || kind.gvk.kind === 'Event') continue;
      objects.push(...(await this.list(kind)));
    }
    return objects;
  }

  /** All objects of a kind; on a real cluster those of the test's namespace. */
  async list(kind: KindInfo): Promise<readonly KubeObject[]> {
    const namespace = this.#namespace;
    const isReal = namespace !== defaultNamespace;
    const list = await this.#api.get(pathOf(kind, isReal ? { namespace } : {}));
    const items = isJsonObject(list) && Array.isArray(list.items) ? list.items : [];
    const head = { apiVersion: apiVersionOf(kind.gvk), kind: kind.gvk.kind };
    return items.map((item) => ({ ...(item as unknown as KubeObject), ...head }));
  }

  /** A kind by its name, or `Kind.group`; undefined where it is not served. */
  kindNamed(name: string): Promise<KindInfo | undefined> {
    return this.#findKind(({ gvk }) => gvk.kind === name || `${gvk.kind}.${gvk.group}` === name);
  }

  /** The name of an object in references: `web`, or `shop/web` in another namespace than the test's. */
  nameOf({ metadata: { name, namespace } }: KubeObject): string {
    return namespace === undefined || namespace === this.#namespace ? name : `${namespace}/${name}`;
  }

  /** The schema of a kind, for merge keys of lists. */
  async typeOf(gvk: Gvk): Promise<SchemaType | undefined> {
    const key = gvkKey(gvk);
    if (!this.#types.has(key)) this.#types.set(key, this.#builtinType(gvk));
    return this.#types.get(key);
  }

  #builtinType(gvk: Gvk): SchemaType | undefined {
    const schema = bundledSchemas().schemaFor(gvk);
    return schema && this.#compiler.compile(schema);
  }

  async #get(path: string): Promise<JsonObject | undefined> {
    const found = await this.#api.get(path);
    return isJsonObject(found) ? found : undefined;
  }

  #path(kind: KindInfo, name: string, namespace: string | undefined): string {
    return pathOf(kind, {
      name,
      ...(kind.namespaced && { namespace: namespace ?? this.#namespace }),
    });
  }

  /** Whether the server has the kind of an object. */
  async serves({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Promise<boolean> {
    return (await this.#kindIn(apiVersion, kind)) !== undefined;
  }

  #kindIn(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    const wanted = gvkKey(gvkOf(apiVersion, kind));
    return this.#findKind(({ gvk }) => gvkKey(gvk) === wanted);
  }

  async #kindOf(apiVersion: string, kind: string): Promise<KindInfo> {
    const found = await this.#kindIn(apiVersion, kind);
    if (found !== undefined) return found;
    throw new UnknownReferenceError(
      `The server does not serve "${kind}" of "${apiVersion}": its CustomResourceDefinition is missing`,
    );
  }

  /** Asks the server again for a kind that it did not serve before. */
  async #findKind(isMeant: (kind: KindInfo) => boolean): Promise<KindInfo | undefined> {
    const known = findIn(this.#kinds, isMeant);
    if (known !== undefined) return known;
    this.#kinds = noKinds;
    return findIn(await this.#served(), isMeant);
  }

  async #served(): Promise<ServedKinds> {
    if (this.#kinds === noKinds) {
      const flow = { name: 'user', priority: 'object' } as const;
      this.#kinds = await listServedKinds(this.#api.client, flow, new AbortController().signal);
    }
    return this.#kinds;
  }
}

function findIn(
  { preferred, others }: ServedKinds,
  isMeant: (kind: KindInfo) => boolean,
): KindInfo | undefined {
  return preferred.find(isMeant) ?? others.find(isMeant);
}
