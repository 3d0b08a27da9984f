import type { LocatedDefinition } from '../../definition/index.ts';
import type { KnownDefinition } from '../registry/known-definition.ts';

/** What is known of definitions, and what is on record of them. Pure. */
export function withRevisions(
  known: ReadonlyMap<string, KnownDefinition>,
  revisions: ReadonlyMap<string, readonly LocatedDefinition[]>,
): ReadonlyMap<string, KnownDefinition> {
  const all = new Map(known);
  for (const [name, formerly] of revisions)
    all.set(name, { ...(known.get(name) ?? { name }), formerly });
  return all;
}
