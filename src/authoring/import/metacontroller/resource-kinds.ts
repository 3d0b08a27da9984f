import { bundledKinds, bundledPlural } from '#compile';
import { pluralOf } from '#simulation';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { SourceDocument } from '../importer.ts';

/** The CustomResourceDefinition of `apiVersion` and `resource` in the files. */
export function crdOf(
  apiVersion: string,
  resource: string,
  documents: readonly SourceDocument[],
): SourceDocument | undefined {
  return documents.find(({ value: { kind, spec } }) => {
    if (kind !== 'CustomResourceDefinition' || !isJsonObject(spec)) return false;
    const names = isJsonObject(spec.names) ? spec.names : {};
    return spec.group === gvkOf(apiVersion, '').group && names.plural === resource;
  });
}

/** The kind of `apiVersion` and `resource`: built in, in the files, or among these objects. */
export function kindOf(
  apiVersion: string,
  resource: string,
  documents: readonly SourceDocument[],
  objects: readonly JsonObject[] = [],
): Gvk | undefined {
  const spec = crdOf(apiVersion, resource, documents)?.value.spec;
  const names = isJsonObject(spec) ? spec.names : undefined;
  const known = isJsonObject(names) ? [String(names.kind)] : bundledKinds(apiVersion);
  const written = [...documents.map(({ value }) => value), ...objects].flatMap((object) =>
    object.apiVersion === apiVersion && typeof object.kind === 'string' ? [object.kind] : [],
  );
  const isMeant = (kind: string) =>
    known === undefined
      ? false
      : [bundledPlural(gvkOf(apiVersion, kind)), pluralOf(kind.toLowerCase())].includes(resource);
  const kind = isJsonObject(names) ? String(names.kind) : [...known, ...written].find(isMeant);
  return kind === undefined ? undefined : gvkOf(apiVersion, kind);
}
