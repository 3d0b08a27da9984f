export { createDefinitionRevisions } from './create-definition-revisions.ts';
export type { DefinitionRevisions, DefinitionRevisionsOptions } from './definition-revisions.ts';
export { withRevisions } from './with-revisions.ts';
