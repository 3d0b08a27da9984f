export { aggregatedDiscoveryTypes } from './api/discovery-documents.ts';
export { type PathTarget, pathOf } from './api/paths.ts';
export { type KindInfo, listServedKinds, type ServedKinds } from './api/served-kinds.ts';
export { SharedBudget } from './cache/shared-budget.ts';
export type { ApiClient, ApiRequest, ApiResponse, ApiStream } from './client/api-client.ts';
export type { ClosableApiClient } from './client/create-api-client.ts';
export { ReceiveBudget } from './client/receive-budget.ts';
export { ServerAvailability } from './client/server-availability.ts';
export { isServerPattern, type ServerNote, ServerPolicy } from './client/server-policy.ts';
export {
  type ClusterConfig,
  type Credentials,
  type CredentialsSource,
  KubeConfigError,
} from './config/cluster-config.ts';
export { configOfKubeconfig } from './config/inline-kubeconfig.ts';
export { type LoadKubeConfigOptions, loadKubeConfig } from './config/load-kube-config.ts';
export {
  type ClusterLossReason,
  createClusterOn,
  type KubeCluster,
  type KubeClusterOptions,
} from './create-cluster.ts';
export { createKubeCluster } from './create-kube-cluster.ts';
export { abortedError, errorFromResponse } from './errors.ts';
export { ApiServerAddresses } from './outbound/api-server-addresses.ts';
export {
  isOutboundRule,
  OutboundPolicy,
  type OutboundPolicyOptions,
  serviceOf,
} from './outbound/outbound-policy.ts';
export { type ProxyEnvironment, proxySettings } from './outbound/proxy-settings.ts';
export { ServiceAddresses } from './outbound/service-addresses.ts';
export { KubeTokenRequests } from './outbound/token-requests.ts';
export { UndiciTransport, type UndiciTransportOptions } from './outbound/undici-transport.ts';
export {
  type AccessRight,
  type ApplyOptions,
  type ApplyResult,
  type CacheEvent,
  type Cluster,
  type DeleteOptions,
  type Discovery,
  type EditMetadataOptions,
  type EventInput,
  type EventRecorder,
  type Flow,
  type Informer,
  type InformerQuery,
  type InformerState,
  type KindSchema,
  KubeError,
  type KubeErrorCode,
  type ManagedFieldsEntry,
  type MetadataPatch,
  type ObjectRef,
  type PassToken,
  type Reader,
  type ReplaceOptions,
  type ResourceType,
  type RightsWatcher,
  type SentRequest,
  type StatusCause,
  type StoredObject,
  type Watcher,
  type WriteOptions,
  type Writer,
} from './roles.ts';
