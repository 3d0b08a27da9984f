import { type Gvk, gvkKey } from '#util/gvk.ts';
import type { KindSchema, SchemaSource } from '../schema-source.ts';
import bundled from './builtin-schemas.generated.json' with { type: 'json' };
import tables from './builtin-tables.generated.json' with { type: 'json' };

/** The kinds that a bare API server serves, by {@link gvkKey}. */
const kinds: ReadonlyMap<
  string,
  { readonly plural: string; readonly namespaced: boolean; readonly root: string }
> = new Map(Object.entries(bundled.kinds));

/**
 * The schemas of the built-in kinds, which are available without a cluster. They come from the server version named
 * in the file. All kinds share one set of components, so that a SchemaCompiler compiles each component once.
 */
export function bundledSchemas(): SchemaSource {
  const components: KindSchema['components'] = bundled.components;
  return {
    schemaFor(gvk: Gvk): KindSchema | undefined {
      const kind = kinds.get(gvkKey(gvk));
      return kind && { root: kind.root, components };
    },
    isNamespaced: (gvk) => kinds.get(gvkKey(gvk))?.namespaced,
  };
}

/** The plural of a built-in kind: `deployments`. Undefined for any other. */
export function bundledPlural(gvk: Gvk): string | undefined {
  return kinds.get(gvkKey(gvk))?.plural;
}

/** The names of all built-in kinds. */
export function bundledKindNames(): ReadonlySet<string> {
  return new Set([...kinds.keys()].map((key) => key.slice(key.lastIndexOf('/') + 1)));
}

/** The built-in kinds of one `apiVersion`. */
export function bundledKinds(apiVersion: string): readonly string[] {
  const prefix = `${apiVersion}/`;
  return [...kinds.keys()]
    .filter((kind) => kind.startsWith(prefix))
    .map((kind) => kind.slice(prefix.length))
    .filter((kind) => !kind.includes('/'));
}

/** The `apiVersion`s of all built-in kinds of this name. */
export function bundledVersions(kind: string): readonly string[] {
  return [...kinds.keys()]
    .filter((key) => key.endsWith(`/${kind}`))
    .map((key) => key.slice(0, -kind.length - 1));
}

/** The OpenAPI components of the built-in kinds, for a simulated server. */
export interface BuiltinDocuments {
  /** Version of the server that they come from: `v1.36.3`. */
  readonly kubernetesVersion: string;
  /** OpenAPI v3 components by name. */
  readonly components: KindSchema['components'];
  /** Component names by kind: `v1/ConfigMap` -> `io.k8s.api.core.v1.ConfigMap`. */
  readonly roots: Readonly<Record<string, string>>;
  /** Optional fields that are not pointers in Go, by component: their zero value is omitted. */
  readonly droppedZeros: Readonly<Record<string, readonly string[]>>;
}

export function builtinDocuments(): BuiltinDocuments {
  const roots = kinds.entries().map(([kind, { root }]) => [kind, root] as const);
  return {
    kubernetesVersion: bundled.provenance.server,
    components: bundled.components,
    roots: Object.fromEntries(roots),
    droppedZeros: builtinTables.zeroDropped,
  };
}

/** The descriptions of a component and of its fields. */
export interface ComponentDescription {
  readonly description?: string;
  /** By field name. */
  readonly properties?: Readonly<Record<string, string>>;
}

/**
 * The descriptions of built-in components by name, from the server version of {@link builtinDocuments}. Large (0.7
 * MB) and rarely used, so the module is imported on demand.
 */
export async function loadBuiltinDescriptions(): Promise<
  Readonly<Record<string, ComponentDescription>>
> {
  const { default: file } = await import('./builtin-descriptions.generated.json', {
    with: { type: 'json' },
  });
  return file.components;
}

/**
 * Properties of built-in types that OpenAPI does not contain, by component name. A missing row causes one unnecessary
 * apply per process start; a wrong row hides drift. Add rows only with a test against a real server.
 */
interface BuiltinTables {
  /** Optional fields that are not pointers in Go: their zero value is omitted. */
  readonly zeroDropped: Readonly<Record<string, readonly string[]>>;
  /** Relevant defaults of the server: for zeros that mean a default, and inside atomic values. */
  readonly defaults: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Items that admission appends to a list, by field. */
  readonly injected: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>;
}

/** The tables of the server version named in the file. */
export const builtinTables: BuiltinTables = tables;
