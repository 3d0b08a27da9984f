export { DefinitionRunner } from './definition-runner.ts';
export { prepareFormer } from './prepare-definition.ts';
export { messageOf } from './standing.ts';
export { workedMs } from './worked-ms.ts';
