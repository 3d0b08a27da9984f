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

/** Reads all kinds that the server serves, each in the preferred version of its group. @throws KubeError */
export async function listServedKinds(
  api: ApiClient,
  flow: Flow,
  signal: AbortSignal,
): Promise<readonly KindInfo[]> {
  const documents = await Promise.all(
    ['/api', '/apis'].map((path) => api.request({ method: 'GET', path, accept, flow }, signal)),
  );
  return documents.flatMap(({ body }) => objectsOf(body, 'items')).flatMap(readGroup);
}

/** The first version of a group that has a kind is the preferred one. */
function readGroup(group: JsonObject): readonly KindInfo[] {
  const name = isJsonObject(group.metadata) ? String(group.metadata.name ?? '') : '';
  const byPlural = new Map<string, KindInfo>();
  for (const version of objectsOf(group, 'versions'))
    for (const resource of objectsOf(version, 'resources')) {
      const kind = readResource(name, String(version.version), resource);
      if (!byPlural.has(kind.plural)) byPlural.set(kind.plural, kind);
    }
  return [...byPlural.values()];
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
