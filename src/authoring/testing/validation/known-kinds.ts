import {
  bundledKindNames,
  bundledKinds,
  bundledPlural,
  bundledSchemas,
  bundledVersions,
  createSchemaCompiler,
  type SchemaType,
  schemaOfCustomResource,
} from '#compile';
import { pathOf } from '#kube';
import { didYouMean, nearestName } from '#util/did-you-mean.ts';
import { apiVersionOf, type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';

/** A kind that a cluster with the definitions serves. */
export interface KnownKind {
  readonly gvk: Gvk;
  /** Path of the collection that objects are created in, those with a namespace in `default`. */
  readonly path: string;
  readonly namespaced: boolean;
  readonly isCustom: boolean;
  /** Undefined: a kind without a schema. */
  readonly type: () => SchemaType | undefined;
}

/** The built-in kinds, and those of CRDs. */
export class KnownKinds {
  readonly #custom = new Map<string, KnownKind>();
  readonly #types = new Map<string, SchemaType | undefined>();
  readonly #compiler = createSchemaCompiler();

  /** Adds the kinds of a CRD. What is no CRD adds none. */
  add(crd: JsonObject): void {
    const spec = isJsonObject(crd.spec) ? crd.spec : {};
    const { kind, plural } = isJsonObject(spec.names) ? spec.names : {};
    for (const version of Array.isArray(spec.versions) ? spec.versions : []) {
      if (!isJsonObject(version)) continue;
      const gvk = gvkOf(`${spec.group}/${version.name}`, String(kind));
      const { openAPIV3Schema } = isJsonObject(version.schema) ? version.schema : {};
      const namespaced = spec.scope !== 'Cluster';
      this.#custom.set(gvkKey(gvk), {
        gvk,
        namespaced,
        path: collectionOf(gvk, String(plural), namespaced),
        isCustom: true,
        type: () =>
          isJsonObject(openAPIV3Schema) ? schemaOfCustomResource(openAPIV3Schema, gvk) : undefined,
      });
    }
  }

  /** Undefined: no such kind is served. */
  find(apiVersion: string, kind: string): KnownKind | undefined {
    const gvk = gvkOf(apiVersion, kind);
    return this.#custom.get(gvkKey(gvk)) ?? this.#builtin(gvk);
  }

  /**
   * The kind of a name, as in `Deployment/web` or `Cluster.example.com/web`: one of a definition, or else the built-in one in its latest
   * version.
   */
  named(kind: string): KnownKind | undefined {
    const custom = [...this.#custom.values()].find(
      ({ gvk }) => gvk.kind === kind || `${gvk.kind}.${gvk.group}` === kind,
    );
    return custom ?? this.find(bundledVersions(kind).at(-1) ?? '', kind);
  }

  /** Whether all kinds of this version are those of Kubernetes: definitions cannot add others. */
  isBuiltinGroup(apiVersion: string): boolean {
    return !gvkOf(apiVersion, '').group.includes('.') || bundledKinds(apiVersion).length > 0;
  }

  /** Whether other operators may serve kinds of this API group: it is neither that of a known kind, nor similar to one. */
  isForeign(apiVersion: string): boolean {
    const { group } = gvkOf(apiVersion, '');
    const own = [...this.#custom.values()].map(({ gvk }) => gvk);
    return (
      !this.isBuiltinGroup(apiVersion) &&
      !own.some((gvk) => gvk.group === group) &&
      !own.some((gvk) => isMistypedGroup(group, gvk.group))
    );
  }

  /** A hint for a kind that is not known. */
  hintFor(apiVersion: string, kind: string): string | undefined {
    const custom = [...this.#custom.values()].map(({ gvk }) => gvk);
    const elsewhere = [
      ...bundledVersions(kind),
      ...custom.filter((gvk) => gvk.kind === kind).map(apiVersionOf),
    ].at(-1);
    if (elsewhere !== undefined) return `Did you mean "${elsewhere}"?`;
    const { group } = gvkOf(apiVersion, '');
    const own = custom.filter((gvk) => gvk.group === group).map((gvk) => gvk.kind);
    return didYouMean(kind, [...own, ...bundledKinds(apiVersion)]);
  }

  /** A hint for the name of a kind that is not known. */
  hintForName(kind: string): string | undefined {
    const custom = [...this.#custom.values()].map(({ gvk }) => gvk.kind);
    return didYouMean(kind, [...custom, ...bundledKindNames()]);
  }

  #builtin(gvk: Gvk): KnownKind | undefined {
    const plural = bundledPlural(gvk);
    if (plural === undefined) return undefined;
    const namespaced = bundledSchemas().isNamespaced(gvk) === true;
    const path = collectionOf(gvk, plural, namespaced);
    return { gvk, namespaced, path, isCustom: false, type: () => this.#builtinType(gvk) };
  }

  #builtinType(gvk: Gvk): SchemaType | undefined {
    const key = gvkKey(gvk);
    if (!this.#types.has(key)) {
      const schema = bundledSchemas().schemaFor(gvk);
      this.#types.set(key, schema && this.#compiler.compile(schema));
    }
    return this.#types.get(key);
  }
}

/** Whether one part of a group is mistyped: `eyample.com` for `example.com`. */
function isMistypedGroup(found: string, known: string): boolean {
  const [parts, knownParts] = [found.split('.'), known.split('.')];
  const different = parts.flatMap((part, index) =>
    part === knownParts[index] ? [] : [nearestName(part, [knownParts[index] ?? ''])],
  );
  return parts.length === knownParts.length && different.length === 1 && different[0] !== undefined;
}

function collectionOf(gvk: Gvk, plural: string, namespaced: boolean): string {
  return pathOf({ gvk, plural, namespaced, hasStatus: false, verbs: [] }, { namespace: 'default' });
}
