import { isJsonObject, type JsonObject, objectAt } from '#util/json.ts';

/** The versions of a kind, as a converter needs them. */
export interface KindVersions {
  readonly schemas: ReadonlyMap<string, JsonObject>;
  readonly storage?: string;
}

/** Reads the versions of a CustomResourceDefinition. */
export function versionsOfCrd(crd: unknown): KindVersions {
  const listed = objectAt(crd, 'spec')?.versions;
  const versions = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  const schemas = new Map<string, JsonObject>();
  for (const version of versions)
    schemas.set(String(version.name), objectAt(version.schema, 'openAPIV3Schema') ?? {});
  const stored = versions.find((version) => version.storage === true);
  return { schemas, ...(stored !== undefined && { storage: String(stored.name) }) };
}
