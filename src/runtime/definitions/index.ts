export { originText } from '../desired-definition.ts';
export { DefinitionTaskRunner } from './definition-task-runner.ts';
export {
  DefinitionsController,
  type DefinitionsControllerOptions,
} from './definitions-controller.ts';
export { recordOf } from './record.ts';
export type { StatusEvent } from './status-events.ts';
