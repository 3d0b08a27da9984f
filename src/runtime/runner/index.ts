export { DefinitionRunner } from './definition-runner.ts';
export { compileFor, preparePrevious } from './prepare-definition.ts';
