import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type ClusterConfig, loadKubeConfig } from '#kube';
import { messageOf } from '#util/homeostat-error.ts';
import type { Json } from '#util/json.ts';
import { CliError } from './exit-code.ts';

export interface KubeconfigFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/**
 * Finds the cluster as kubectl does: `--kubeconfig`, then `KUBECONFIG`, then the Pod's service account, then `~/.kube/config`.
 * @throws CliError
 */
export async function loadClusterConfig({
  kubeconfig,
  context,
}: KubeconfigFlags): Promise<ClusterConfig> {
  try {
    const paths = await kubeconfigPaths(kubeconfig);
    const inCluster = serviceAddress();
    return await loadKubeConfig({
      kubeconfig: paths,
      parseYaml: parseKubeconfig,
      ...(context === undefined ? {} : { context }),
      ...(inCluster === undefined ? {} : { inCluster }),
    });
  } catch (error) {
    const reason = messageOf(error);
    throw new CliError(`Cannot connect to a cluster: ${reason}`, {
      hint: 'Name a kubeconfig with --kubeconfig or KUBECONFIG, and one of its contexts with --context',
      cause: error,
    });
  }
}

/** Parses a kubeconfig as kubectl does. Loaded on demand: a Pod has none. @throws YamlError */
export async function parseKubeconfig(text: string): Promise<Json> {
  const { parseYaml } = await import('#definition');
  return parseYaml(text, 'kubectl');
}

async function kubeconfigPaths(flag: string | undefined): Promise<readonly string[]> {
  if (flag !== undefined) return [flag];
  const named = (process.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) return named;
  const home = join(homedir(), '.kube', 'config');
  // In a Pod the service account is used, even if the image contains a kubeconfig.
  const isInCluster = serviceAddress() !== undefined;
  return !isInCluster && (await exists(home)) ? [home] : [];
}

function serviceAddress() {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  return host === undefined || port === undefined ? undefined : { host, port };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
