import type { ServedKind } from './served-kind.ts';

/** The served kinds, by path. Kinds of CRDs are added and removed. */
export class KindRegistry {
  readonly #builtins: readonly ServedKind[];
  /** By name of the CRD. */
  readonly #custom = new Map<string, readonly ServedKind[]>();
  #byResource = new Map<string, ServedKind>();
  #all: readonly ServedKind[] = [];

  constructor(builtins: readonly ServedKind[]) {
    this.#builtins = builtins;
    this.#rebuild();
  }

  /** The kind at `/apis/GROUP/VERSION/PLURAL`. */
  find(group: string, version: string, plural: string): ServedKind | undefined {
    return this.#byResource.get(`${group}/${version}/${plural}`);
  }

  /** All kinds: the built-in ones, then custom ones in the order of their names. The same list until a kind changes. */
  all(): readonly ServedKind[] {
    return this.#all;
  }

  /** Replaces the kinds of a CRD; an empty list removes them. */
  setCustom(crd: string, kinds: readonly ServedKind[]): void {
    if (kinds.length === 0) this.#custom.delete(crd);
    else this.#custom.set(crd, kinds);
    this.#rebuild();
  }

  #rebuild(): void {
    const custom = [...this.#custom.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    const kinds = [...this.#builtins, ...custom.flatMap(([, versions]) => versions)];
    this.#all = kinds;
    this.#byResource = new Map(
      kinds.map((kind) => {
        const { group, version, plural } = kind.names;
        return [`${group}/${version}/${plural}`, kind];
      }),
    );
  }
}
