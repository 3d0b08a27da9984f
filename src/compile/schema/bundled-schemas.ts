import { type Gvk, gvkKey } from '../../util/gvk.ts';
import type { KindSchema, SchemaSource } from '../schema-source.ts';
import bundled from './builtin-schemas.generated.json' with { type: 'json' };
import { builtinTables } from './builtin-tables.ts';

/** The schemas of all kinds that a bare API server serves. */
export interface SchemaBundle {
  /** By {@link gvkKey}. */
  readonly kinds: Readonly<
    Record<string, { readonly plural: string; readonly namespaced: boolean; readonly root: string }>
  >;
  readonly components: KindSchema['components'];
}

/**
 * What is known without a cluster: the built-in kinds, as the server version named in the file documents them.
 * All kinds share one set of components, so that a SchemaCompiler compiles each of these once.
 */
export function bundledSchemas(bundle: SchemaBundle = bundled): SchemaSource {
  const kinds = new Map(Object.entries(bundle.kinds));
  return {
    schemaFor(gvk: Gvk): KindSchema | undefined {
      const kind = kinds.get(gvkKey(gvk));
      return kind && { root: kind.root, components: bundle.components };
    },
    isNamespaced: (gvk) => kinds.get(gvkKey(gvk))?.namespaced,
  };
}

/** The plural of a built-in kind: `deployments`. Undefined for any other. */
export function bundledPlural(
  gvk: Gvk,
  bundle: Pick<SchemaBundle, 'kinds'> = bundled,
): string | undefined {
  return new Map(Object.entries(bundle.kinds)).get(gvkKey(gvk))?.plural;
}

/** The built-in kinds of one `apiVersion`. */
export function bundledKinds(
  apiVersion: string,
  bundle: Pick<SchemaBundle, 'kinds'> = bundled,
): readonly string[] {
  const prefix = `${apiVersion}/`;
  return Object.keys(bundle.kinds)
    .filter((kind) => kind.startsWith(prefix))
    .map((kind) => kind.slice(prefix.length))
    .filter((kind) => !kind.includes('/'));
}

/** The documents of the built-in kinds as they are, for whoever plays a server. */
export interface BuiltinDocuments {
  /** Of the server that documented them: `v1.36.3`. */
  readonly kubernetesVersion: string;
  /** OpenAPI v3 components by name. */
  readonly components: KindSchema['components'];
  /** Names of the components of kinds: `v1/ConfigMap` -> `io.k8s.api.core.v1.ConfigMap`. */
  readonly roots: Readonly<Record<string, string>>;
  /** Optional fields that are no pointers in Go, by component: their zero value is not written. */
  readonly droppedZeros: Readonly<Record<string, readonly string[]>>;
}

export function builtinDocuments(): BuiltinDocuments {
  const roots = Object.entries(bundled.kinds).map(([kind, { root }]) => [kind, root]);
  return {
    kubernetesVersion: bundled.provenance.server,
    components: bundled.components,
    roots: Object.fromEntries(roots),
    droppedZeros: builtinTables.zeroDropped,
  };
}
