import type { ResourceNames } from './served-kind.ts';

export interface NamesOptions {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** @default the kind in lower case */
  readonly singular?: string;
}

/** The names of a built-in resource; singular and list kind derive from the kind. */
export function resourceNames(options: NamesOptions): ResourceNames {
  const { apiVersion, kind, plural, namespaced, shortNames = [], categories = [] } = options;
  const slash = apiVersion.indexOf('/');
  return {
    group: apiVersion.slice(0, Math.max(slash, 0)),
    version: apiVersion.slice(slash + 1),
    kind,
    listKind: `${kind}List`,
    plural,
    singular: options.singular ?? kind.toLowerCase(),
    shortNames,
    categories,
    namespaced,
  };
}
