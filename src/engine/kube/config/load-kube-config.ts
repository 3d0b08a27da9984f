import { join } from 'node:path';
import type { Json } from '#util/json.ts';
import {
  type ClusterConfig,
  type Credentials,
  type CredentialsSource,
  KubeConfigError,
} from './cluster-config.ts';
import { readCredentialFile } from './credential-file.ts';

export interface LoadKubeConfigOptions {
  /**
   * A kubeconfig file, or several that are merged as in kubectl: the first to define a name wins, missing files are
   * skipped. Omitted or empty: the service account of our Pod.
   */
  readonly kubeconfig?: string | readonly string[];
  /** Parses one YAML document as kubectl does. @throws Error */
  readonly parseYaml: (text: string) => Promise<Json>;
  /** @default the file's `current-context` */
  readonly context?: string;
  /** Address of the API server in a Pod. Required without a kubeconfig. */
  readonly inCluster?: ServiceAddress;
  /** @default '/var/run/secrets/kubernetes.io/serviceaccount' */
  readonly serviceAccountFolder?: string;
}

/**
 * Loads the configuration of a cluster. Reads files, starts no plugin and sends no request. Rejects unsupported
 * settings of the context.
 * @throws KubeConfigError
 */
export async function loadKubeConfig(options: LoadKubeConfigOptions): Promise<ClusterConfig> {
  const { kubeconfig = [], context, parseYaml } = options;
  const paths = typeof kubeconfig === 'string' ? [kubeconfig] : kubeconfig;
  if (paths.length === 0) return loadInClusterConfig(options);
  // Loaded on demand: a Pod needs neither a YAML parser nor authentication plugins.
  const { loadKubeconfigFiles } = await import('./kubeconfig-credentials.ts');
  return loadKubeconfigFiles({ paths, parseYaml, ...(context !== undefined && { context }) });
}

/** Address of the API server in a Pod: `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. */
interface ServiceAddress {
  readonly host: string;
  readonly port: string;
}

interface InClusterOptions {
  readonly inCluster?: ServiceAddress;
  readonly serviceAccountFolder?: string;
}

const defaultFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The service account mounted into our Pod.
 * @throws KubeConfigError without one.
 */
async function loadInClusterConfig(options: InClusterOptions): Promise<ClusterConfig> {
  const { inCluster, serviceAccountFolder = defaultFolder } = options;
  if (inCluster === undefined)
    throw new KubeConfigError(
      'not-found',
      'Expected a kubeconfig or to run in a Pod, found neither',
    );
  const credentials = new ServiceAccountCredentials(serviceAccountFolder);
  await credentials.load();
  const namespace = await readCredentialFile(
    'namespace of the service account',
    join(serviceAccountFolder, 'namespace'),
  ).catch(() => 'default');
  const name = namespace.trim();
  return { server: serverOf(inCluster), namespace: name, ownNamespace: name, credentials };
}

function serverOf({ host, port }: ServiceAddress): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Token and certificate authority are read at each load: the kubelet rotates the token about once an hour. */
class ServiceAccountCredentials implements CredentialsSource {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async load(): Promise<Credentials> {
    const [token, ca] = await Promise.all([this.#read('token'), this.#read('ca.crt')]);
    return { headers: { authorization: `Bearer ${token.trim()}` }, ca };
  }

  #read(name: string): Promise<string> {
    return readCredentialFile('file of the service account', join(this.#folder, name));
  }
}
