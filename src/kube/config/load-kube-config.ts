import type { ClusterConfig } from './cluster-config.ts';
import { loadInClusterConfig, type ServiceAddress } from './in-cluster.ts';

export interface LoadKubeConfigOptions {
  /**
   * A kubeconfig file, or several that are merged as kubectl does: the first to name a thing wins, a missing one is
   * skipped. Left out or empty: the service account of the Pod that we run in.
   */
  readonly kubeconfig?: string | readonly string[];
  /** @default the file's `current-context` */
  readonly context?: string;
  /** Where the API server is for a Pod. Needed without a kubeconfig. */
  readonly inCluster?: ServiceAddress;
  /** @default '/var/run/secrets/kubernetes.io/serviceaccount' */
  readonly serviceAccountFolder?: string;
}

/**
 * Finds out how to reach a cluster and as whom. Reads files, starts no plugin and sends nothing.
 * Everything in the chosen context that we cannot honour is refused, never ignored.
 * @throws KubeConfigError
 */
export async function loadKubeConfig(options: LoadKubeConfigOptions = {}): Promise<ClusterConfig> {
  const { kubeconfig = [], context } = options;
  const paths = typeof kubeconfig === 'string' ? [kubeconfig] : kubeconfig;
  if (paths.length === 0) return loadInClusterConfig(options);
  // Only now: a Pod needs neither a YAML parser nor the plugins of others to log in.
  const { loadKubeconfigFiles } = await import('./kubeconfig-credentials.ts');
  return loadKubeconfigFiles({ paths, ...(context === undefined ? {} : { context }) });
}
