import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import type { ClusterConfig, Credentials, CredentialsSource } from './cluster-config.ts';
import { KubeConfigError } from './kube-config-error.ts';
import {
  type KubeconfigFilesOptions,
  type KubeconfigView,
  readKubeconfig,
} from './kubeconfig-files.ts';

/**
 * How to reach the cluster of a context, see `loadKubeConfig`.
 * @throws KubeConfigError
 */
export async function loadKubeconfigFiles(options: KubeconfigFilesOptions): Promise<ClusterConfig> {
  const view = await readKubeconfig(options);
  const { cluster, namespace } = view;
  return {
    server: cluster.server,
    namespace,
    credentials: new KubeconfigCredentials(options.paths, view),
    skipsTlsVerify: cluster.skipTLSVerify ?? false,
    ...(cluster.tlsServerName ? { tlsServerName: cluster.tlsServerName } : {}),
    ...(cluster.proxyUrl ? { proxyUrl: cluster.proxyUrl } : {}),
  };
}

/**
 * Credentials of a context. The files are read again at each load, so that rotated tokens and certificates
 * are seen; what a plugin or an OIDC provider gave is kept until it expires or the server refused it.
 */
class KubeconfigCredentials implements CredentialsSource {
  readonly #paths: readonly string[];
  #view: KubeconfigView;

  constructor(paths: readonly string[], view: KubeconfigView) {
    this.#paths = paths;
    this.#view = view;
  }

  async load({ wasRefused }: { readonly wasRefused: boolean }): Promise<Credentials> {
    await this.#refresh(wasRefused);
    const { config, cluster, user, oidc } = this.#view;
    const ca = await readAuthority(cluster);
    const trust = ca === undefined ? {} : { ca };
    // As kubectl: whoever listens on the way would have our credentials.
    const isPlain = cluster.server.startsWith('http:');
    if (user === undefined || isPlain) return { headers: {}, ...trust };
    tellPlugin(user, cluster);
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw withoutSecrets(error);
    }
    const identity = identityOf(options);
    if (oidc === undefined || identity.headers.authorization !== undefined)
      return { ...trust, ...identity };
    const authorization = `Bearer ${await oidc.load(Date.now())}`;
    return { ...trust, ...identity, headers: { ...identity.headers, authorization } };
  }

  /** A view remembers what plugins gave: it is replaced only when the files or the server say so. */
  async #refresh(wasRefused: boolean): Promise<void> {
    const { context, text, user } = this.#view;
    const view = await readKubeconfig({ paths: this.#paths, context });
    const isPlugin = user?.exec !== undefined && user.exec !== null;
    // A provider's refresh token may work once only, and the file has the first: a refusal does not go back to it.
    const hasToken = user?.token !== undefined && view.user?.token !== user.token;
    if (view.text !== text || hasToken || (wasRefused && isPlugin)) this.#view = view;
  }
}

async function readAuthority({ caFile, caData }: Cluster): Promise<string | undefined> {
  if (caFile) return readFile(caFile, 'utf8');
  return caData ? Buffer.from(caData, 'base64').toString('utf8') : undefined;
}

/** The complaint of a JSON parser quotes what it found: it may be a plugin's token. */
function withoutSecrets(error: unknown): unknown {
  if (!(error instanceof SyntaxError)) return error;
  return new KubeConfigError('invalid', 'Expected JSON from the credential plugin, found none');
}

/** What client-go tells a plugin, and the library does not: several refuse to work without it. */
function tellPlugin(user: User, cluster: Cluster): void {
  const { exec } = user;
  if (!exec) return;
  const info = {
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec.provideClusterInfo === true ? { cluster: clusterInfo(cluster) } : {}),
    },
  };
  const others = (exec.env ?? []).filter(({ name }: { name: string }) => name !== infoVariable);
  exec.env = [...others, { name: infoVariable, value: JSON.stringify(info) }];
}

const infoVariable = 'KUBERNETES_EXEC_INFO';

function clusterInfo(cluster: Cluster): Record<string, unknown> {
  return {
    server: cluster.server,
    ...(cluster.tlsServerName ? { 'tls-server-name': cluster.tlsServerName } : {}),
    ...(cluster.skipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(cluster.caData ? { 'certificate-authority-data': cluster.caData } : {}),
    ...(cluster.proxyUrl ? { 'proxy-url': cluster.proxyUrl } : {}),
  };
}

function identityOf({ headers, auth, cert, key }: RequestOptions): Credentials {
  const certText = pemOf(cert);
  const keyText = pemOf(key);
  return {
    headers: headersOf(headers, auth),
    ...(certText === undefined ? {} : { cert: certText }),
    ...(keyText === undefined ? {} : { key: keyText }),
  };
}

function headersOf(
  found: RequestOptions['headers'],
  basic: string | null | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(found ?? {})) {
    // A token from a file ends with its newline, which no header may hold.
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim();
  }
  if (basic) headers.authorization = `Basic ${Buffer.from(basic).toString('base64')}`;
  return headers;
}

function pemOf(value: RequestOptions['cert'] | RequestOptions['key']): string | undefined {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString('utf8') : undefined;
}
