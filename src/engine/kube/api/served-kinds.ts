import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { Flow, ResourceType } from '../roles.ts';
import { aggregatedDiscoveryTypes as accept } from './discovery-documents.ts';

/** A kind that the server serves, with all of its names. */
export interface KindInfo extends ResourceType {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** What a server serves. */
export interface ServedKinds {
  /** Each kind once, in the preferred version of its group. */
  readonly preferred: readonly KindInfo[];
  /** The same kinds in the other versions in which they are served. */
  readonly others: readonly KindInfo[];
}

/** Reads all kinds that the server serves. @throws KubeError */
export async function listServedKinds(
  api: ApiClient,
  flow: Flow,
  signal: AbortSignal,
): Promise<ServedKinds> {
  const documents = await Promise.all(
    ['/api', '/apis'].map((path) => api.request({ method: 'GET', path, accept, flow }, signal)),
  );
  const groups = documents.flatMap(({ body }) => objectsOf(body, 'items')).map(readGroup);
  return {
    preferred: groups.flatMap(({ preferred }) => preferred),
    others: groups.flatMap(({ others }) => others),
  };
}

/** The first version of a group that has a kind is the preferred one. */
function readGroup(group: JsonObject): ServedKinds {
  const name = isJsonObject(group.metadata) ? String(group.metadata.name ?? '') : '';
  const preferred = new Map<string, KindInfo>();
  const others: KindInfo[] = [];
  for (const version of objectsOf(group, 'versions'))
    for (const resource of objectsOf(version, 'resources')) {
      const kind = readResource(name, String(version.version), resource);
      if (preferred.has(kind.plural)) others.push(kind);
      else preferred.set(kind.plural, kind);
    }
  return { preferred: [...preferred.values()], others };
}

function readResource(group: string, version: string, resource: JsonObject): KindInfo {
  const { responseKind } = resource;
  const kind = isJsonObject(responseKind) ? String(responseKind.kind) : '';
  const subresources = objectsOf(resource, 'subresources');
  return {
    gvk: { group, version, kind },
    plural: String(resource.resource),
    singular: String(resource.singularResource ?? '') || kind.toLowerCase(),
    namespaced: resource.scope === 'Namespaced',
    hasStatus: subresources.some(({ subresource }) => subresource === 'status'),
    verbs: textsOf(resource.verbs),
    shortNames: textsOf(resource.shortNames),
    categories: textsOf(resource.categories),
  };
}

function objectsOf(value: unknown, field: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
