import type { LocatedDefinition } from '../../definition/index.ts';
import type { WantedSet } from '../wanted-definition.ts';

export interface GoneDefinitionsOptions {
  /** By name: the revisions on record, newest first. */
  readonly recorded: () => ReadonlyMap<string, readonly LocatedDefinition[]>;
  /** Are all definitions known that there are, and all records this process's own? Before, none counts as gone. */
  readonly isAllKnown: () => boolean;
}

/**
 * Definitions of kinds of others (`for`) that are gone: no CRD remembers them, and objects may still wait for them before they are
 * deleted. They are known from their records, and from what ran here.
 */
export class GoneDefinitions {
  readonly #options: GoneDefinitionsOptions;
  readonly #seen = new Map<string, LocatedDefinition>();
  /** Nothing is left of these. */
  readonly #finished = new Set<string>();

  constructor(options: GoneDefinitionsOptions) {
    this.#options = options;
  }

  /** The set with those that are gone among the broken ones: what is being deleted of them is brought to its end. */
  with(wanted: WantedSet): WantedSet {
    const { definitions, broken = [] } = wanted;
    const present = [...definitions.map(({ located }) => located), ...broken];
    const names = new Set(present.map(({ definition }) => definition.name));
    for (const { located } of definitions) {
      this.#seen.set(located.definition.name, located);
      this.#finished.delete(located.definition.name);
    }
    if (!this.#options.isAllKnown()) return wanted;
    const known = new Map(this.#seen);
    for (const [name, [newest]] of this.#options.recorded()) {
      if (newest !== undefined && !known.has(name)) known.set(name, newest);
    }
    const gone = [...known.values()].filter(
      ({ definition: { name, kind } }) =>
        kind.source === 'for' && !names.has(name) && !this.#finished.has(name),
    );
    return gone.length === 0 ? wanted : { ...wanted, broken: [...broken, ...gone] };
  }

  /** Nothing is left of it. */
  finished(name: string): void {
    this.#finished.add(name);
    this.#seen.delete(name);
  }
}
