import type { Json, JsonObject } from '#util/json.ts';
import { sha256Hex } from '#util/sha256.ts';
import type { MergeComponents, MergeSchema } from '../apply/field-type-builder.ts';
import { fieldOf, objectField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/served-kind.ts';

export interface OpenApiOptions {
  /** The components of the built-in kinds. */
  readonly components: MergeComponents;
  readonly kubernetesVersion: string;
  /** @default no descriptions of built-in kinds */
  readonly loadDescriptions?: (() => Promise<Descriptions>) | undefined;
}

/** A document, written as text when it is requested first: clients request few of them. */
interface CachedDocument {
  readonly kinds: readonly ServedKind[];
  text: string | undefined;
}

/** The OpenAPI v3 documents of the served kinds, one for each group version. */
export class OpenApiDocuments {
  readonly #components: MergeComponents;
  readonly #kubernetesVersion: string;
  readonly #loadDescriptions: (() => Promise<Descriptions>) | undefined;
  readonly #documents = new WeakMap<readonly ServedKind[], ReadonlyMap<string, CachedDocument>>();

  constructor({ components, kubernetesVersion, loadDescriptions }: OpenApiOptions) {
    this.#components = components;
    this.#kubernetesVersion = kubernetesVersion;
    this.#loadDescriptions = loadDescriptions;
  }

  /** `/openapi/v3`: the URL of each document; its hash changes with the content. */
  index(kinds: readonly ServedKind[], basePath: string): JsonObject {
    const paths: Record<string, Json> = {};
    for (const [path, { kinds: served }] of this.#documentsOf(kinds)) {
      const hash = this.#hashOf(served);
      paths[path] = { serverRelativeURL: `${basePath}/openapi/v3/${path}?hash=${hash}` };
    }
    return { paths };
  }

  /** The text of a document (`apis/apps/v1`), without descriptions of built-in kinds; undefined when there is none. */
  document(kinds: readonly ServedKind[], path: string): string | undefined {
    const document = this.#documentsOf(kinds).get(path);
    if (document === undefined) return undefined;
    document.text ??= JSON.stringify(this.#document(path, document.kinds));
    return document.text;
  }

  /** A document with all descriptions. Not cached: clients rarely request it. */
  described(document: string): string | AsyncIterable<string> {
    const load = this.#loadDescriptions;
    return load === undefined ? document : describedDocument(document, load);
  }

  #documentsOf(kinds: readonly ServedKind[]): ReadonlyMap<string, CachedDocument> {
    const known = this.#documents.get(kinds);
    if (known !== undefined) return known;
    const groups = Map.groupBy(kinds, ({ apiVersion }) =>
      apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`,
    );
    const documents = new Map(
      Array.from(groups, ([path, served]) => [path, { kinds: served, text: undefined }]),
    );
    this.#documents.set(kinds, documents);
    return documents;
  }

  /** The schemas of built-in kinds change only with the version of Kubernetes. */
  #hashOf(kinds: readonly ServedKind[]): string {
    const parts = kinds.map(({ names, hasStatus, isCustom, openApi }) => [
      names,
      hasStatus,
      isCustom ? openApi.schema : this.#kubernetesVersion,
    ]);
    return sha256Hex(JSON.stringify(parts)).toUpperCase();
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

/** The descriptions of a component and its fields, from a real server. */
export interface ComponentDescription {
  readonly description?: string;
  /** By field name. */
  readonly properties?: Readonly<Record<string, string>>;
}

/** By component name. */
export type Descriptions = Readonly<Record<string, ComponentDescription>>;

/** The text of a document with the descriptions of its components. */
async function* describedDocument(
  text: string,
  load: () => Promise<Descriptions>,
): AsyncGenerator<string> {
  const descriptions = await load();
  const document: JsonObject = JSON.parse(text);
  const components = objectField(document, 'components') ?? {};
  const schemas = Object.entries(objectField(components, 'schemas') ?? {}).map(
    ([name, schema]): [string, Json] => {
      const description = Object.hasOwn(descriptions, name) ? descriptions[name] : undefined;
      return [
        name,
        description === undefined ? (schema ?? null) : withTexts(schema as JsonObject, description),
      ];
    },
  );
  yield JSON.stringify({ ...document, components: { schemas: Object.fromEntries(schemas) } });
}

function withTexts(schema: JsonObject, { description, properties = {} }: ComponentDescription) {
  const own = description === undefined ? schema : { description, ...schema };
  const fields = objectField(schema, 'properties');
  if (fields === undefined) return own;
  const described = Object.entries(fields).map(([name, field]): [string, Json] => {
    const text = fieldOf(properties, name);
    return [
      name,
      text === undefined ? (field ?? null) : { description: text, ...(field as JsonObject) },
    ];
  });
  return { ...own, properties: Object.fromEntries(described) };
}
