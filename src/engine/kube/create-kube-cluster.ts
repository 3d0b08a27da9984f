import { hostname } from 'node:os';
import { createApiClient } from './client/create-api-client.ts';
import { createClusterOn, type KubeCluster, type KubeClusterOptions } from './create-cluster.ts';

// Apart from the cluster on a given client: simulations need no HTTP client.

/** Creates a cluster with a real API server. Sends no request before its first use. */
export function createKubeCluster(options: KubeClusterOptions): KubeCluster {
  const { onLost } = options;
  const client = createApiClient({
    ...options,
    ...(onLost && { onOutage: () => onLost('outage') }),
  });
  return createClusterOn(client, { instance: `homeostat-${hostname()}`, ...options });
}
