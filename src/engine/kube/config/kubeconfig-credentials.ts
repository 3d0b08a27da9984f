import type { RequestOptions } from 'node:https';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import {
  type ClusterConfig,
  type Credentials,
  type CredentialsSource,
  KubeConfigError,
  type LoadOptions,
} from './cluster-config.ts';
import { readCredentialFile } from './credential-file.ts';
import {
  type KubeconfigFilesOptions,
  type KubeconfigView,
  type PluginStop,
  readKubeconfig,
} from './kubeconfig-files.ts';

/**
 * Cluster configuration of a context, see `loadKubeConfig`.
 * @throws KubeConfigError
 */
export async function loadKubeconfigFiles(options: KubeconfigFilesOptions): Promise<ClusterConfig> {
  const plugins: PluginStop = { signal: undefined };
  const view = await readKubeconfig({ ...options, plugins });
  const { cluster, namespace } = view;
  return {
    server: cluster.server,
    namespace,
    credentials: new KubeconfigCredentials({ ...options, plugins }, view),
    skipsTlsVerify: cluster.skipTLSVerify ?? false,
    ...(cluster.tlsServerName ? { tlsServerName: cluster.tlsServerName } : {}),
    ...(cluster.proxyUrl ? { proxyUrl: cluster.proxyUrl } : {}),
  };
}

/**
 * Credentials of a context. The files are read at each load, to detect rotated tokens and certificates. Credentials
 * of a plugin or an OIDC provider are cached until they expire or the server rejects them.
 */
class KubeconfigCredentials implements CredentialsSource {
  readonly #options: KubeconfigFilesOptions & { readonly plugins: PluginStop };
  #view: KubeconfigView;
  #hasFailed = false;

  constructor(
    options: KubeconfigFilesOptions & { readonly plugins: PluginStop },
    view: KubeconfigView,
  ) {
    this.#options = options;
    this.#view = view;
  }

  async load({ wasRejected, signal }: LoadOptions): Promise<Credentials> {
    this.#options.plugins.signal = signal;
    // The view also caches an answer of a plugin that is no use.
    await this.#refresh(wasRejected || this.#hasFailed);
    this.#hasFailed = true;
    const credentials = await this.#read();
    this.#hasFailed = false;
    return credentials;
  }

  async #read(): Promise<Credentials> {
    const { config, cluster, user, oidc } = this.#view;
    await readNamedFiles(this.#view);
    const ca = decodedAuthority(cluster);
    const trust = ca === undefined ? {} : { ca };
    // As in kubectl: unencrypted connections must not carry credentials.
    const isPlain = cluster.server.startsWith('http:');
    if (user === undefined || isPlain) return { headers: {}, ...trust };
    setExecInfo(user, cluster);
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw withoutSecrets(error);
    }
    const identity = identityOf(options);
    // Without credentials the server takes us for an anonymous user, and may not answer with 401.
    const isAnonymous = identity.headers.authorization === undefined && identity.cert === undefined;
    if (user.exec && isAnonymous) throw noCredential();
    if (oidc === undefined || identity.headers.authorization !== undefined)
      return { ...trust, ...identity };
    const authorization = `Bearer ${await oidc.load(Date.now())}`;
    return { ...trust, ...identity, headers: { ...identity.headers, authorization } };
  }

  /** A view caches credentials of plugins: it is replaced only if files have changed or the server rejected them. */
  async #refresh(wasRejected: boolean): Promise<void> {
    const { context, text, user } = this.#view;
    const view = await readKubeconfig({ ...this.#options, context });
    const isPlugin = user?.exec !== undefined && user.exec !== null;
    // The file contains the first refresh token, which may be valid only once: do not return to it after a rejection.
    const hasToken = user?.token !== undefined && view.user?.token !== user.token;
    if (view.text !== text || hasToken || (wasRejected && isPlugin)) this.#view = view;
  }
}

/** Puts the content of files where the library has inline data: it would read them without a limit, and block on a pipe. */
async function readNamedFiles({ cluster, user, files }: KubeconfigView): Promise<void> {
  const read = async (what: string, path: string | undefined) =>
    path ? Buffer.from(await readCredentialFile(what, path)).toString('base64') : undefined;
  const [caData, certData, keyData] = await Promise.all([
    read('certificate authority', files.ca),
    read('client certificate', files.cert),
    read('client key', files.key),
  ]);
  Object.assign(cluster, { ...(caData !== undefined && { caData }) });
  if (user !== undefined)
    Object.assign(user, {
      ...(certData !== undefined && { certData }),
      ...(keyData !== undefined && { keyData }),
    });
}

function decodedAuthority({ caData }: Cluster): string | undefined {
  return caData ? Buffer.from(caData, 'base64').toString('utf8') : undefined;
}

function noCredential(): KubeConfigError {
  const message = 'The credential plugin returned neither a token nor a certificate';
  return new KubeConfigError('invalid', message);
}

/** The message of a JSON parser can quote a plugin's token. */
function withoutSecrets(error: unknown): unknown {
  // The library reads the status of any JSON.
  if (error instanceof TypeError) return noCredential();
  if (!(error instanceof SyntaxError)) return error;
  return new KubeConfigError('invalid', 'The credential plugin did not return JSON');
}

/** Passes the exec info of client-go, which the library omits and several plugins need. */
function setExecInfo(user: User, cluster: Cluster): void {
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
    // A token from a file ends with a newline, which headers do not allow.
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim();
  }
  if (basic) headers.authorization = `Basic ${Buffer.from(basic).toString('base64')}`;
  return headers;
}

function pemOf(value: RequestOptions['cert'] | RequestOptions['key']): string | undefined {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString('utf8') : undefined;
}
