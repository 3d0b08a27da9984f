export {
  type CheckedDefinition,
  type CheckOptions,
  type CheckResult,
  checkDefinitions,
} from './check-definitions.ts';
export type { DefinitionText } from './definition-source.ts';
export type { DefinitionState, DefinitionView, RuntimeView } from './definition-view.ts';
export { loadDirectory } from './directory-source.ts';
export { createManager, type Manager, type ManagerOptions } from './manager.ts';
export type { RefusedFile } from './refused-file.ts';
export type { RuntimeCluster } from './runtime-cluster.ts';
