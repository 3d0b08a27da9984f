export { ClusterRuntime, type ClusterRuntimeOptions } from './cluster-runtime.ts';
export type { CrdRejection } from './crd/check-change.ts';
export {
  type CertificateAuthority,
  type ConversionTarget,
  simulatedConversion,
} from './crd/conversion/conversion-target.ts';
export { applyCrd } from './crd/install-crd.ts';
export { DefinitionMetrics } from './definition-metrics.ts';
export {
  type DefinitionView,
  hasPendingPolicies,
  isStarting,
  queuesOf,
  type RuntimeView,
} from './definition-view.ts';
export { recordOf } from './definitions/record.ts';
export type {
  DefinitionOrigin,
  DesiredDefinition,
  Rejection,
} from './desired-definition.ts';
export { compileOwn } from './install/compile-own.ts';
export { createDefinitionViewCluster } from './install/definition-view-cluster.ts';
export { recordedInstallKinds } from './install/recorded-kinds.ts';
export { LeaderElector } from './leadership/leader-elector.ts';
export { type ResolvedLeaseTimes, resolveLeaseTimes } from './leadership/lease.ts';
export { WriteFence } from './leadership/write-fence.ts';
export { clusterGvk, createClusterCrd, ensureClusterKind } from './members/cluster-kind.ts';
export type { ConnectMember } from './members/member-connection.ts';
export { definitionGvk } from './objects/names.ts';
export type { OwnController } from './objects/own-controller.ts';
export { createOwnCrd, installOwnCrd, type OwnKind } from './objects/own-kind.ts';
export { compileFor, fetchSchemas } from './prepare/prepare-definition.ts';
export type { ParsedManifest } from './publish/parsed-manifest.ts';
export type { ReconcileObserver, RuntimeCluster } from './runner-options.ts';
export { RecordGate } from './running/record-gate.ts';
export { RunningDefinition } from './running/running-definition.ts';
export { servedKinds } from './served-kinds.ts';
export { createConfigMapSource } from './sources/configmap-source.ts';
export { loadPath, loadTree } from './sources/definition-files.ts';
export {
  createStaticSource,
  type DefinitionSource,
  type SourceManifest,
} from './sources/definition-source.ts';
export { createDirectorySource } from './sources/directory-source.ts';
export { watchFolders } from './sources/folder-scan.ts';
export { ViewChangeNotifier } from './view-change-notifier.ts';
