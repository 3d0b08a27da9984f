export {
  type CheckedDefinition,
  type CheckOptions,
  type CheckResult,
  checkDefinitions,
} from './check-definitions.ts';
export { createTextCheck, rememberChecks, type TextCheck } from './check-text.ts';
export { ClusterRuntime, type ClusterRuntimeOptions } from './cluster-runtime.ts';
export type { DefinitionText } from './definition-text.ts';
export type {
  DefinitionState,
  DefinitionView,
  RolloutView,
  RuntimeView,
} from './definition-view.ts';
export { createElection, type ElectionOptions } from './leadership/create-election.ts';
export type { LeaderElector } from './leadership/leader-elector.ts';
export { type LeaseTimes, resolveLeaseTimes } from './leadership/lease-settings.ts';
export { WriteFence } from './leadership/write-fence.ts';
export { createManager, type Manager, type ManagerOptions } from './manager.ts';
export {
  createDefinitionObjects,
  type DefinitionObjects,
  type DefinitionObjectsOptions,
} from './objects/index.ts';
export type { RefusedFile } from './refused-file.ts';
export {
  type KnownDefinition,
  type KnownDefinitions,
  Registry,
  type RegistryOptions,
  type SourceReading,
  type TextFindings,
} from './registry/index.ts';
export {
  GoneDefinitions,
  type GoneDefinitionsOptions,
  RemovalFinalizers,
  type RemovalFinalizersOptions,
  UnreadRemovals,
  type UnreadRemovalsOptions,
} from './removal/index.ts';
export {
  createDefinitionRevisions,
  type DefinitionRevisions,
  type DefinitionRevisionsOptions,
  withRevisions,
} from './revisions/index.ts';
export {
  type DefinitionRights,
  definitionRights,
  type MergedRule,
  mergeRules,
  type RightPurpose,
  rolesYaml,
  rulesYaml,
  runtimeRights,
} from './rights/index.ts';
export { workedMs } from './runner/index.ts';
export type { RuntimeCluster } from './runtime-cluster.ts';
export {
  createConfigMapSource,
  createDirectorySource,
  createObjectSource,
  createTextSource,
  type DefinitionSource,
  fileReason,
  loadDirectory,
  type SourceText,
  watchFolders,
} from './sources/index.ts';
export type {
  DefinitionOrigin,
  Refusal,
  WantedDefinition,
  WantedSet,
} from './wanted-definition.ts';
