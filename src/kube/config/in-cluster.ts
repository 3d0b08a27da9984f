import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterConfig, Credentials, CredentialsSource } from './cluster-config.ts';
import { KubeConfigError } from './kube-config-error.ts';

/** Where the API server is for a Pod: the values of its `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: string;
}

export interface InClusterOptions {
  readonly inCluster?: ServiceAddress;
  readonly serviceAccountFolder?: string;
}

const defaultFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The service account that is mounted into our Pod.
 * @throws KubeConfigError when we do not run in a Pod that has one.
 */
export async function loadInClusterConfig(options: InClusterOptions): Promise<ClusterConfig> {
  const { inCluster, serviceAccountFolder = defaultFolder } = options;
  if (inCluster === undefined)
    throw new KubeConfigError(
      'not-found',
      'Expected a kubeconfig or to run in a Pod, found neither',
    );
  const credentials = new ServiceAccountCredentials(serviceAccountFolder);
  await credentials.load();
  const namespace = await readFile(join(serviceAccountFolder, 'namespace'), 'utf8').catch(
    () => 'default',
  );
  const name = namespace.trim();
  return { server: serverOf(inCluster), namespace: name, ownNamespace: name, credentials };
}

function serverOf({ host, port }: ServiceAddress): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Token and authority are read from their files each time: the kubelet replaces the token about once an hour. */
class ServiceAccountCredentials implements CredentialsSource {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async load(): Promise<Credentials> {
    const [token, ca] = await Promise.all([this.#read('token'), this.#read('ca.crt')]);
    return { headers: { authorization: `Bearer ${token.trim()}` }, ca };
  }

  async #read(name: string): Promise<string> {
    const path = join(this.#folder, name);
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      const message = `Expected the service account's file "${path}", found none that can be read`;
      throw new KubeConfigError('not-found', message, { cause: error });
    }
  }
}
