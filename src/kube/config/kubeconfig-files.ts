import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
// The file itself: the package's index brings 750 generated models into a bundle.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import { KubeConfigError } from './kube-config-error.ts';
import { type OidcSettings, OidcTokens } from './oidc-tokens.ts';

/** The chosen context of one or several kubeconfig files. */
export interface KubeconfigView {
  /** With this context chosen. It remembers what plugins and providers gave. */
  readonly config: KubeConfig;
  readonly context: string;
  readonly namespace: string;
  readonly cluster: Cluster;
  /** None where the context names no user. */
  readonly user: User | undefined;
  /** Where the user's token comes from an OIDC provider. It remembers what that gave. */
  readonly oidc: OidcTokens | undefined;
  /** All that was read; equal text, equal view. */
  readonly text: string;
}

/** Ways to log in that the library knows. It would ignore another one and send requests without credentials. */
const knownProviders = new Set(['oidc', 'exec', 'azure', 'gcp']);

/** Impersonation that the library drops without a word, which would widen or narrow what we may do. */
const lostImpersonation = /["']?\b(as-groups|as-uid|as-user-extra)["']?\s*:/;

/** Kubernetes says `tokenFile`, the library reads `token-file` only. */
const tokenFileKey = /(["']?)\btokenFile\1(?=\s*:)/g;

export interface KubeconfigFilesOptions {
  readonly paths: readonly string[];
  /** @default that of the files */
  readonly context?: string;
}

/**
 * Reads and merges kubeconfig files, the first to name a thing wins.
 * @throws KubeConfigError
 */
export async function readKubeconfig({
  paths,
  context,
}: KubeconfigFilesOptions): Promise<KubeconfigView> {
  const files = await Promise.all(paths.map((path) => readIfThere(path)));
  const found = files.filter((file) => file !== undefined);
  if (found.length === 0)
    throw new KubeConfigError(
      'not-found',
      `Expected a kubeconfig at "${paths.join(':')}", found none`,
    );
  const config = mergeConfigs(found.map(parseFile));
  if (context !== undefined) config.setCurrentContext(context);
  const view = chosenView(config, found.map(({ text }) => text).join('\0'));
  refuseUnsupported(view);
  return view;
}

interface KubeconfigFile {
  readonly path: string;
  readonly text: string;
}

async function readIfThere(path: string): Promise<KubeconfigFile | undefined> {
  try {
    return { path, text: await readFile(path, 'utf8') };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new KubeConfigError('not-found', `Cannot read kubeconfig "${path}"`, { cause: error });
  }
}

function parseFile({ path, text }: KubeconfigFile): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromString(text.replaceAll(tokenFileKey, '$1token-file$1'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new KubeConfigError('invalid', `Expected a kubeconfig in "${path}", found: ${why}`, {
      cause: error,
    });
  }
  const folder = dirname(path);
  config.makePathsAbsolute(folder);
  for (const user of config.users) makeCommandAbsolute(user, folder);
  return config;
}

/** As client-go has it: a command with a slash is relative to the file, a bare one is looked for in PATH. */
function makeCommandAbsolute(user: User, folder: string): void {
  const command: unknown = user.exec?.command;
  if (typeof command === 'string' && command.includes('/') && !isAbsolute(command))
    user.exec.command = join(folder, command);
}

function mergeConfigs(configs: readonly KubeConfig[]): KubeConfig {
  const merged = new KubeConfig();
  merged.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap(({ clusters }) => clusters)),
    users: firstOfEachName(configs.flatMap(({ users }) => users)),
    contexts: firstOfEachName(configs.flatMap(({ contexts }) => contexts)),
    currentContext: configs.map(({ currentContext }) => currentContext).find(Boolean),
  });
  return merged;
}

function firstOfEachName<T extends { readonly name: string }>(things: readonly T[]): T[] {
  const byName = new Map<string, T>();
  for (const thing of things) if (!byName.has(thing.name)) byName.set(thing.name, thing);
  return [...byName.values()];
}

function chosenView(config: KubeConfig, text: string): KubeconfigView {
  const name = config.getCurrentContext();
  if (!name)
    throw new KubeConfigError(
      'invalid',
      'Expected a current-context in the kubeconfig, found none',
    );
  const context = config.getContextObject(name);
  if (context === null)
    throw new KubeConfigError('not-found', `Expected a context "${name}", found none of that name`);
  const cluster = config.getCluster(context.cluster);
  if (cluster === null)
    throw new KubeConfigError('not-found', `Expected a cluster "${context.cluster}", found none`);
  // A context without a user is legal: anonymous. One that names a user who is not there is a mistake.
  const user = context.user ? (config.getUser(context.user) ?? undefined) : undefined;
  if (context.user && user === undefined)
    throw new KubeConfigError('not-found', `Expected a user "${context.user}", found none`);
  const namespace = context.namespace ?? 'default';
  return { config, context: name, namespace, cluster, user, oidc: takeOidc(user), text };
}

/** The user no longer asks the library for it, see {@link OidcTokens}. */
function takeOidc(user: User | undefined): OidcTokens | undefined {
  if (user?.authProvider?.name !== 'oidc') return undefined;
  const settings: OidcSettings = user.authProvider.config ?? {};
  Object.assign(user, { authProvider: undefined });
  return new OidcTokens(settings);
}

function refuseUnsupported({ cluster, user, text }: KubeconfigView): void {
  const server = URL.canParse(cluster.server) ? new URL(cluster.server).protocol : '';
  if (server !== 'https:' && server !== 'http:')
    throw new KubeConfigError('invalid', `Expected a URL as server, found "${cluster.server}"`);
  const { proxyUrl } = cluster;
  if (proxyUrl && !/^https?:\/\//.test(proxyUrl)) {
    const message = `Expected an http:// or https:// proxy-url, found "${proxyUrl}"`;
    throw new KubeConfigError('unsupported', message);
  }
  const provider: unknown = user?.authProvider?.name;
  if (typeof provider === 'string' && !knownProviders.has(provider))
    throw new KubeConfigError('unsupported', `Unknown auth-provider "${provider}"`);
  const [, lost] = lostImpersonation.exec(text) ?? [];
  if (user?.impersonateUser && lost !== undefined)
    throw new KubeConfigError('unsupported', `Impersonation with "${lost}" is not supported`);
}
