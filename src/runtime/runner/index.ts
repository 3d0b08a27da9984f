export { DefinitionRunner } from './definition-runner.ts';
export { preparePrevious } from './prepare-definition.ts';
