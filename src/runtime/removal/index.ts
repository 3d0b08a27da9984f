export { DefinitionRemover } from './definition-remover.ts';
export { GoneDefinitions, type GoneDefinitionsOptions } from './gone-definitions.ts';
export { RemovalFinalizers, type RemovalFinalizersOptions } from './removal-finalizers.ts';
export { removalOf } from './removal-terms.ts';
export { UnreadRemovals, type UnreadRemovalsOptions } from './unread-removals.ts';
