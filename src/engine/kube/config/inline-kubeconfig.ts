import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { type ClusterConfig, type Credentials, KubeConfigError } from './cluster-config.ts';

const instead =
  'Use a token or a client certificate, written inline, for example the token of a ServiceAccount';

/** Fields that run a program or read a file of this process, or that would be ignored. */
const rejectedOfUser: Readonly<Record<string, string>> = {
  exec: 'runs a program',
  'auth-provider': 'uses a credential provider',
  tokenFile: 'reads a file',
  'token-file': 'reads a file',
  'client-certificate': 'reads a file',
  'client-key': 'reads a file',
  'as-groups': 'impersonates groups',
  'as-uid': 'impersonates a UID',
  'as-user-extra': 'impersonates extra attributes',
};
const rejectedOfCluster: Readonly<Record<string, string>> = {
  'certificate-authority': 'reads a file',
};

/**
 * Cluster configuration of a parsed kubeconfig that comes from the API. Its author must not run programs or read files
 * here: everything must be inline. Does not use the library, which reads a `token-file` while it parses.
 * @param context @default its `current-context`
 * @throws KubeConfigError; the message ends with what to do
 */
export function configOfKubeconfig(document: Json, context?: string): ClusterConfig {
  if (!isJsonObject(document)) throw invalid('Expected a kubeconfig, found no map');
  const name = context ?? document['current-context'];
  if (typeof name !== 'string' || name === '')
    throw invalid('Expected a "current-context" in the kubeconfig, found none');
  const chosen = entryOf(document, 'context', name);
  const cluster = entryOf(document, 'cluster', textAt(chosen, 'cluster') ?? '');
  const userName = textAt(chosen, 'user');
  // A context without a user is anonymous.
  const user = userName === undefined ? {} : entryOf(document, 'user', userName);
  rejectFields(user, rejectedOfUser, instead);
  const inlineAuthority = 'Write it inline as "certificate-authority-data"';
  rejectFields(cluster, rejectedOfCluster, inlineAuthority);
  const credentials = credentialsOf(cluster, user);
  const tlsServerName = textAt(cluster, 'tls-server-name');
  const proxyUrl = proxyOf(cluster);
  return {
    server: serverOf(cluster),
    namespace: textAt(chosen, 'namespace') ?? 'default',
    credentials: { load: async () => credentials },
    skipsTlsVerify: cluster['insecure-skip-tls-verify'] === true,
    ...(tlsServerName !== undefined && { tlsServerName }),
    ...(proxyUrl !== undefined && { proxyUrl }),
  };
}

/** The entry of `contexts`, `clusters` or `users` with that name. */
function entryOf(document: JsonObject, field: string, name: string): JsonObject {
  const list = document[`${field}s`];
  const entries: readonly Json[] = Array.isArray(list) ? list : [];
  const found = entries.filter(isJsonObject).find((entry) => entry.name === name);
  if (found === undefined)
    throw new KubeConfigError('not-found', `Expected a ${field} "${name}" in the kubeconfig`);
  const entry = found[field];
  return isJsonObject(entry) ? entry : {};
}

function rejectFields(
  entry: JsonObject,
  rejected: Readonly<Record<string, string>>,
  hint: string,
): void {
  for (const [field, why] of Object.entries(rejected)) {
    const value = entry[field];
    if (value === undefined || value === null || value === '') continue;
    const message = `A kubeconfig from a Secret may not have "${field}", which ${why}. ${hint}`;
    throw new KubeConfigError('unsupported', message);
  }
}

function serverOf(cluster: JsonObject): string {
  const server = textAt(cluster, 'server') ?? '';
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return server;
  throw invalid(`Expected an https:// URL as "server", found "${server}"`);
}

function proxyOf(cluster: JsonObject): string | undefined {
  const proxyUrl = textAt(cluster, 'proxy-url');
  if (proxyUrl === undefined || /^https?:\/\//.test(proxyUrl)) return proxyUrl;
  const message = `Expected an http:// or https:// "proxy-url", found "${proxyUrl}"`;
  throw new KubeConfigError('unsupported', message);
}

function credentialsOf(cluster: JsonObject, user: JsonObject): Credentials {
  const ca = decodedAt(cluster, 'certificate-authority-data');
  const trust = ca === undefined ? {} : { ca };
  // As in kubectl: unencrypted connections must not carry credentials.
  if (serverOf(cluster).startsWith('http:')) return { headers: {}, ...trust };
  const cert = decodedAt(user, 'client-certificate-data');
  const key = decodedAt(user, 'client-key-data');
  const as = textAt(user, 'as');
  return {
    headers: { ...authorizationOf(user), ...(as !== undefined && { 'impersonate-user': as }) },
    ...trust,
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

function authorizationOf(user: JsonObject): Readonly<Record<string, string>> {
  const token = textAt(user, 'token');
  if (token !== undefined) return { authorization: `Bearer ${token.trim()}` };
  const username = textAt(user, 'username');
  if (username === undefined) return {};
  const basic = Buffer.from(`${username}:${textAt(user, 'password') ?? ''}`).toString('base64');
  return { authorization: `Basic ${basic}` };
}

function decodedAt(entry: JsonObject, field: string): string | undefined {
  const data = textAt(entry, field);
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');
}

function textAt(entry: JsonObject, field: string): string | undefined {
  const value = entry[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function invalid(message: string): KubeConfigError {
  return new KubeConfigError('invalid', message);
}
