export { type PathTarget, pathOf } from './api/paths.ts';
export type { ApiClient, ApiRequest, ApiResponse, ApiStream } from './client/api-client.ts';
export { ServerContact } from './client/server-contact.ts';
export type { ClusterConfig, Credentials, CredentialsSource } from './config/cluster-config.ts';
export { KubeConfigError } from './config/kube-config-error.ts';
export { type LoadKubeConfigOptions, loadKubeConfig } from './config/load-kube-config.ts';
export {
  type ClusterLoss,
  createKubeCluster,
  type KubeCluster,
  type KubeClusterOptions,
} from './create-cluster.ts';
export type {
  AccessRight,
  ApplyOptions,
  ApplyResult,
  CacheEvent,
  Cluster,
  DeleteOptions,
  Discovery,
  EventInput,
  EventRecorder,
  FieldOwner,
  Flow,
  Informer,
  InformerQuery,
  InformerState,
  KindSchema,
  ObjectRef,
  PassToken,
  Reader,
  ResourceType,
  RightsWatch,
  StoredObject,
  Watcher,
  WriteOptions,
  Writer,
} from './roles.ts';
export { KubeError, type KubeErrorCode, type StatusCause } from './roles.ts';
