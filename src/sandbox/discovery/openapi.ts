import type { Json, JsonObject } from '../../util/json.ts';
import { sha256Hex } from '../../util/sha256.ts';
import type { MergeComponents, MergeSchema } from '../apply/index.ts';
import type { ServedKind } from '../kinds/index.ts';
import { type Descriptions, describedDocument } from './descriptions.ts';

/** The OpenAPI v3 documents of what is served, one for each group version. */
export class OpenApiDocuments {
  readonly #components: MergeComponents;
  readonly #loadDescriptions: (() => Promise<Descriptions>) | undefined;
  readonly #texts = new WeakMap<readonly ServedKind[], ReadonlyMap<string, string>>();

  constructor(components: MergeComponents, loadDescriptions?: () => Promise<Descriptions>) {
    this.#components = components;
    this.#loadDescriptions = loadDescriptions;
  }

  /** `/openapi/v3`: where each document is; the hash changes with its content. */
  index(kinds: readonly ServedKind[], basePath: string): JsonObject {
    const paths: Record<string, Json> = {};
    for (const [path, text] of this.#documents(kinds)) {
      const hash = sha256Hex(text).toUpperCase();
      paths[path] = { serverRelativeURL: `${basePath}/openapi/v3/${path}?hash=${hash}` };
    }
    return { paths };
  }

  /** The text of a document (`apis/apps/v1`), of built-in kinds without descriptions; undefined when there is none. */
  document(kinds: readonly ServedKind[], path: string): string | undefined {
    return this.#documents(kinds).get(path);
  }

  /** A document with all its descriptions. They are not kept: few people ask, and programs do without. */
  described(document: string): string | AsyncIterable<string> {
    const load = this.#loadDescriptions;
    return load === undefined ? document : describedDocument(document, load);
  }

  #documents(kinds: readonly ServedKind[]): ReadonlyMap<string, string> {
    const known = this.#texts.get(kinds);
    if (known !== undefined) return known;
    const groups = Map.groupBy(kinds, ({ apiVersion }) => apiVersion);
    const texts = new Map<string, string>();
    for (const [apiVersion, served] of groups) {
      const path = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
      texts.set(path, JSON.stringify(this.#document(path, served)));
    }
    this.#texts.set(kinds, texts);
    return texts;
  }

  #document(path: string, kinds: readonly ServedKind[]): JsonObject {
    const schemas: Record<string, MergeSchema> = {};
    const paths: Record<string, Json> = {};
    for (const kind of kinds) {
      const { name, schema } = kind.openApi;
      schemas[name] = schema;
      this.#collect(schema, schemas);
      Object.assign(paths, pathItems(path, kind));
    }
    const info = { title: 'Kubernetes', version: 'unversioned' };
    const components = { schemas } as unknown as Json;
    return { openapi: '3.0.0', info, paths, components };
  }

  /** Adds every component that a schema refers to. */
  #collect(schema: MergeSchema, into: Record<string, MergeSchema>): void {
    const matches = JSON.stringify(schema).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
    for (const [, name = ''] of matches) {
      const component = this.#components[name];
      if (component === undefined || into[name] !== undefined) continue;
      into[name] = component;
      this.#collect(component, into);
    }
  }
}

const options = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));

function pathItems(path: string, kind: ServedKind): Record<string, Json> {
  const { group, version, plural, namespaced } = kind.names;
  const gvk = { group, version, kind: kind.names.kind };
  const collection = `/${path}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`;
  const item = `${collection}/{name}`;
  const operation = (action: string, extra: JsonObject = {}): JsonObject => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk,
    responses: {},
    ...extra,
  });
  const object: JsonObject = {
    get: operation('get'),
    put: operation('put', { parameters: options }),
    patch: operation('patch', { parameters: options, requestBody: patchBody(kind) }),
    delete: operation('delete'),
  };
  return {
    [collection]: {
      get: operation('list'),
      post: operation('post', { parameters: options }),
      delete: operation('deletecollection'),
    },
    [item]: object,
    ...(kind.hasStatus ? { [`${item}/status`]: object } : {}),
  };
}

function patchBody({ patchTypes }: ServedKind): JsonObject {
  return { content: Object.fromEntries(patchTypes.map((type) => [type, { schema: {} }])) };
}
