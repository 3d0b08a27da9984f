import type { Gvk } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { ResourceType } from '../roles.ts';

/** All kinds of one group version. */
export interface GroupVersionTypes {
  readonly group: string;
  readonly version: string;
  readonly types: readonly ResourceType[];
}

/** Media types of aggregated discovery, newest first: servers before 1.30 have only `v2beta1`, with the same fields. */
export const aggregatedDiscoveryTypes = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
].join(',');

/** As {@link aggregatedDiscoveryTypes}, with plain JSON as a fallback. */
export const aggregatedAccept = `${aggregatedDiscoveryTypes},application/json`;

/** Parses an `APIGroupDiscoveryList`; undefined for other documents (an old server). Skips stale group versions. */
export function readAggregated(document: unknown): readonly GroupVersionTypes[] | undefined {
  if (!isJsonObject(document) || document.kind !== 'APIGroupDiscoveryList') return undefined;
  return objectsOf(document.items).flatMap((item) => {
    const group = isJsonObject(item.metadata) ? textOf(item.metadata.name) : '';
    return objectsOf(item.versions)
      .filter(({ freshness }) => freshness !== 'Stale')
      .map((version) => ({
        group,
        version: textOf(version.version),
        types: readAggregatedTypes(group, version),
      }));
  });
}

function readAggregatedTypes(group: string, document: JsonObject): readonly ResourceType[] {
  const version = textOf(document.version);
  return objectsOf(document.resources).flatMap((resource) => {
    const kind = isJsonObject(resource.responseKind) ? textOf(resource.responseKind.kind) : '';
    const subresources = objectsOf(resource.subresources);
    if (kind === '') return [];
    return {
      gvk: { group, version, kind },
      plural: textOf(resource.resource),
      namespaced: resource.scope === 'Namespaced',
      hasStatus: subresources.some(({ subresource }) => subresource === 'status'),
      ...(subresources.some(({ subresource }) => subresource === 'scale') && { hasScale: true }),
      verbs: textsOf(resource.verbs),
    };
  });
}

/** Reads the versions of an `APIGroup`, the preferred one first. */
export function readGroupVersions(document: unknown): readonly string[] {
  if (!isJsonObject(document)) return [];
  const { preferredVersion } = document;
  const preferred = isJsonObject(preferredVersion) ? textOf(preferredVersion.version) : '';
  const versions = objectsOf(document.versions).map(({ version }) => textOf(version));
  return [...new Set([preferred, ...versions])].filter((version) => version !== '');
}

/** Reads the `APIResourceList` of one group version. */
export function readResourceList(
  { group, version }: Pick<Gvk, 'group' | 'version'>,
  document: unknown,
): GroupVersionTypes {
  const entries = isJsonObject(document) ? objectsOf(document.resources) : [];
  const names = new Set(entries.map(({ name }) => name));
  const types = entries
    .filter(({ name }) => !textOf(name).includes('/'))
    .map((entry) => ({
      gvk: { group, version, kind: textOf(entry.kind) },
      plural: textOf(entry.name),
      namespaced: entry.namespaced === true,
      hasStatus: names.has(`${textOf(entry.name)}/status`),
      ...(names.has(`${textOf(entry.name)}/scale`) && { hasScale: true }),
      verbs: textsOf(entry.verbs),
    }));
  return { group, version, types };
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
