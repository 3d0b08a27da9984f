import type { Gvk } from '../util/gvk.ts';

/** JSON schemas of one kind: the root's name and every component it reaches (OpenAPI v3 `components.schemas`). */
export interface KindSchema {
  readonly root: string;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The only thing compile knows about a cluster. */
export interface SchemaSource {
  /** Undefined: the kind is not known here (nothing is checked, values land as they are). */
  schemaFor(gvk: Gvk): KindSchema | undefined;
  /** Undefined: not known here. */
  isNamespaced(gvk: Gvk): boolean | undefined;
}
