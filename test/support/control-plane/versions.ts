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

/** Releases of Kubernetes that can be built, by their minor; the same as in `go-modules/kubernetes*`. */
const kubernetesReleases = {
  '1.36': 'v1.36.3',
  '1.33': 'v1.33.13',
  '1.29': 'v1.29.15',
} as const;

/** A minor release of Kubernetes whose servers can be built. */
export type KubernetesMinor = keyof typeof kubernetesReleases;

/** The minor that is tested on every change. */
export const newestMinor = '1.36' satisfies KubernetesMinor;

/** Release of Kubernetes that is tested on every change. */
export const kubernetesVersion = kubernetesReleases[newestMinor];

/** Release of the oldest kubectl that the sandbox promises to serve, the last of its minor; the same as in `go-modules/kubectl-1.29/go.mod`. */
export const oldestKubectlVersion = kubernetesReleases['1.29'];

/** The whole release of a minor, such as `v1.36.3`. */
export function releaseOf(minor: KubernetesMinor): string {
  return kubernetesReleases[minor];
}

/**
 * The minor of the servers: `HOMEOSTAT_TEST_KUBERNETES`, such as `1.29`.
 * @default the newest
 * @throws Error that lists what can be built, when another is asked for.
 */
export function kubernetesMinor(environment: NodeJS.ProcessEnv): KubernetesMinor {
  const wanted = environment.HOMEOSTAT_TEST_KUBERNETES || newestMinor;
  if (Object.hasOwn(kubernetesReleases, wanted)) return wanted as KubernetesMinor;
  const known = Object.keys(kubernetesReleases).join(', ');
  throw new Error(`Expected one of ${known} in HOMEOSTAT_TEST_KUBERNETES, found "${wanted}"`);
}

/** A minor release of Kubernetes, of those that can be built or another one. */
export type MinorRelease = `1.${number}`;

/**
 * Why a test cannot run: the servers are older than the release that has what it is about. False: they are not, or the sandbox is tested,
 * which is as the newest.
 */
export function skipBefore(
  first: MinorRelease,
  environment: NodeJS.ProcessEnv = process.env,
): string | false {
  if (environment.HOMEOSTAT_TEST_BACKEND === 'sandbox') return false;
  const minor = kubernetesMinor(environment);
  const isOlder = Number(minor.slice(2)) < Number(first.slice(2));
  return isOlder && `needs Kubernetes ${first}, these servers are ${minor}`;
}

/** Where built binaries are kept: outside of the checkout, one folder per set of versions and platform. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const root = environment.XDG_CACHE_HOME || join(homedir(), '.cache');
  const platform = `${process.platform}-${process.arch}`;
  const release = releaseOf(kubernetesMinor(environment));
  const versions = `etcd-${etcdVersion}_kubernetes-${release}_${platform}`;
  return join(root, 'homeostat', 'control-plane', versions);
}
