export { createDefinitionObjects } from './create-definition-objects.ts';
export type { DefinitionObjects, DefinitionObjectsOptions } from './definition-objects.ts';
export { marksIn } from './marks.ts';
export {
  definitionCrdName,
  definitionGvk,
  definitionsLabel,
  isMirror,
  sourceLabel,
  sourceRefAnnotation,
} from './names.ts';
export { WritePace } from './write-pace.ts';
