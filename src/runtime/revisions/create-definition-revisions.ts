import type { DefinitionRevisions, DefinitionRevisionsOptions } from './definition-revisions.ts';
import { RevisionKeeper } from './revision-keeper.ts';

/** Makes the keeper of revisions; nothing happens before {@link DefinitionRevisions.run}. */
export function createDefinitionRevisions(
  options: DefinitionRevisionsOptions,
): DefinitionRevisions {
  return new RevisionKeeper(options);
}
