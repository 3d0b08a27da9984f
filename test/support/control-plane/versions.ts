import { homedir } from 'node:os';
import { join } from 'node:path';

/** The binaries of a control plane and its client, by the names that envtest gives them too. */
export type BinaryName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kubectl'
  | 'kubectl-1.29';

/** Release of etcd; the same as in `go-modules/etcd/go.mod`. */
export const etcdVersion = 'v3.6.16';

/** Release of Kubernetes; the same as in `go-modules/kubernetes/go.mod`. */
export const kubernetesVersion = 'v1.36.3';

/** Release of the oldest kubectl that the sandbox promises to serve, the last of its minor; the same as in `go-modules/kubectl-1.29/go.mod`. */
export const oldestKubectlVersion = 'v1.29.15';

/** Where built binaries are kept: outside of the checkout, one folder per set of versions and platform. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const root = environment.XDG_CACHE_HOME || join(homedir(), '.cache');
  const platform = `${process.platform}-${process.arch}`;
  const versions = `etcd-${etcdVersion}_kubernetes-${kubernetesVersion}_${platform}`;
  return join(root, 'homeostat', 'control-plane', versions);
}
