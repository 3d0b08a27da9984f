import { type GroupKind, type Gvk, groupKindKey } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { errorOfResponse } from '../backend-error.ts';
import type { ConsoleBackend, ResourceRef } from '../contract.ts';

/** A kind that the API server serves. */
export interface ServedKind {
  readonly gvk: Gvk;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

/** The kinds that the API server serves, in the preferred version of each group. */
export type KindIndex = ReadonlyMap<string, ServedKind>;

/** Reads the aggregated discovery documents. @throws BackendError */
export async function loadKinds(
  backend: Pick<ConsoleBackend, 'request'>,
  signal: AbortSignal,
): Promise<KindIndex> {
  const bodies = await Promise.all(
    ['/api', '/apis'].map(async (path) => {
      const response = await backend.request({ method: 'GET', path }, signal);
      const error = errorOfResponse(response);
      if (error !== undefined) throw error;
      return response.body;
    }),
  );
  const index = new Map<string, ServedKind>();
  for (const kind of bodies.flatMap((body) => objectsIn(body, 'items')).flatMap(kindsOfGroup)) {
    const key = groupKindKey(kind.gvk);
    if (!index.has(key)) index.set(key, kind);
  }
  return index;
}

function kindsOfGroup(group: JsonObject): readonly ServedKind[] {
  const name = isJsonObject(group.metadata) ? String(group.metadata.name ?? '') : '';
  return objectsIn(group, 'versions').flatMap((version) =>
    objectsIn(version, 'resources').map((resource): ServedKind => {
      const kind = isJsonObject(resource.responseKind) ? String(resource.responseKind.kind) : '';
      return {
        gvk: { group: name, version: String(version.version), kind },
        plural: String(resource.resource),
        isNamespaced: resource.scope === 'Namespaced',
      };
    }),
  );
}

function objectsIn(value: unknown, field: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** The kind by group and kind. Undefined: it is not served. */
export function findKind(kinds: KindIndex, kind: GroupKind): ServedKind | undefined {
  return kinds.get(groupKindKey(kind));
}

/** Path of a collection; without a namespace: in all namespaces. */
export function collectionPath(
  { gvk: { group, version }, plural, isNamespaced }: ServedKind,
  namespace?: string,
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope =
    isNamespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${plural}`;
}

/** Path of one object. */
export function objectPath(
  kind: ServedKind,
  { namespace, name }: Pick<ResourceRef, 'namespace' | 'name'>,
): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}
