import { type Gvk, gvkKey } from '../../util/gvk.ts';
import type { KindSchema, SchemaSource } from '../schema-source.ts';
import bundled from './builtin-schemas.generated.json' with { type: 'json' };

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
