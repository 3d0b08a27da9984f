export { ClusterRuntime, type ClusterRuntimeOptions } from './cluster-runtime.ts';
export { applyCrd, type CrdRejection } from './crd/index.ts';
export type {
  DefinitionState,
  DefinitionView,
  RejectedFile,
  RolloutView,
  RuntimeView,
} from './definition-view.ts';
export { DefinitionTaskRunner, recordOf } from './definitions/index.ts';
export type {
  DefinitionOrigin,
  DesiredDefinition,
  Rejection,
} from './desired-definition.ts';
export { LeaderElector } from './leadership/leader-elector.ts';
export { type ResolvedLeaseTimes, resolveLeaseTimes } from './leadership/lease-record.ts';
export { WriteFence } from './leadership/write-fence.ts';
export { definitionGvk } from './objects/index.ts';
export type { ParsedManifest } from './publish/index.ts';
export { compileFor } from './runner/index.ts';
export type { RuntimeCluster } from './runner-options.ts';
export { servedKinds } from './served-kinds.ts';
export {
  createConfigMapSource,
  createDirectorySource,
  createStaticSource,
  type DefinitionSource,
  fileReason,
  loadDirectory,
  type SourceManifest,
  watchFolders,
} from './sources/index.ts';
export { ViewChangeNotifier } from './view-change-notifier.ts';
