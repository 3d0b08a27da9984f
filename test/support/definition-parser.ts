import { createDefinitionParser, type DefinitionParser, type LocatedDefinition } from '#definition';

/** The one parser of all tests of a process: it keeps nothing of what it reads, and takes 20 ms to make. */
export const definitionParser: DefinitionParser = createDefinitionParser();

/** What could be understood of the rejected documents. */
export function draftsOf({
  documents,
}: ReturnType<DefinitionParser['parse']>): readonly LocatedDefinition[] {
  return documents.flatMap(({ isAccepted, located }) => (isAccepted ? [] : (located ?? [])));
}
