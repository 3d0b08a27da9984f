import { type ChildProcess, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import { messageOf } from '#util/homeostat-error.ts';
import type { Json } from '#util/json.ts';
import { KubeConfigError } from './cluster-config.ts';
import { readCredentialFile, readCredentialFileIfThere } from './credential-file.ts';
import { configOfDocument, type KubeconfigUser } from './kubeconfig-document.ts';
import { type OidcSettings, OidcTokens } from './oidc-tokens.ts';

/** The chosen context of one or several kubeconfig files. */
export interface KubeconfigView {
  /** With the selected context. Caches credentials of plugins and providers. */
  readonly config: KubeConfig;
  readonly context: string;
  readonly namespace: string;
  readonly cluster: Cluster;
  /** Undefined if the context has no user. */
  readonly user: KubeconfigUser | undefined;
  /** Files with certificates and keys. The library's objects have none of the paths. */
  readonly files: NamedFiles;
  /** Set if the user's token comes from an OIDC provider. Caches its tokens. */
  readonly oidc: OidcTokens | undefined;
  /** The content of all files, to detect changes. */
  readonly text: string;
}

/** Paths of PEM files. Undefined: not named. */
export interface NamedFiles {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Auth providers that the library supports. It would ignore others and send requests without credentials. */
const knownProviders = new Set(['oidc', 'exec', 'azure', 'gcp']);

export interface KubeconfigFilesOptions {
  readonly paths: readonly string[];
  /** Parses one YAML document as kubectl does. @throws Error */
  readonly parseYaml: (text: string) => Promise<Json>;
  /** @default that of the files */
  readonly context?: string;
  /** A credential plugin that runs longer is killed. @default two minutes: a plugin may wait for a login in a browser */
  readonly pluginTimeoutMs?: number;
  /** @default plugins run to their end */
  readonly plugins?: PluginStop;
}

/** What stops a running plugin. The library starts plugins without a parameter for it. */
export interface PluginStop {
  /** Of the current load. */
  signal: AbortSignal | undefined;
}

/**
 * Reads and merges kubeconfig files; the first file to define a name wins.
 * @throws KubeConfigError
 */
export async function readKubeconfig({
  paths,
  parseYaml,
  context,
  pluginTimeoutMs = 120_000,
  plugins = { signal: undefined },
}: KubeconfigFilesOptions): Promise<KubeconfigView> {
  const files = await Promise.all(paths.map((path) => readIfThere(path)));
  const found = files.filter((file) => file !== undefined);
  if (found.length === 0)
    throw new KubeConfigError(
      'not-found',
      `Expected a kubeconfig at "${paths.join(':')}", found none`,
    );
  const config = mergeConfigs(await Promise.all(found.map((file) => parseFile(file, parseYaml))));
  limitPlugins(config, pluginTimeoutMs, plugins);
  if (context !== undefined) config.setCurrentContext(context);
  const view = selectedView(config, found.map(({ text }) => text).join('\0'));
  await readTokenFile(view.user);
  rejectUnsupported(view);
  return view;
}

interface KubeconfigFile {
  readonly path: string;
  readonly text: string;
}

async function readIfThere(path: string): Promise<KubeconfigFile | undefined> {
  const text = await readCredentialFileIfThere('kubeconfig', path);
  return text === undefined ? undefined : { path, text };
}

async function parseFile(
  { path, text }: KubeconfigFile,
  parseYaml: KubeconfigFilesOptions['parseYaml'],
): Promise<KubeConfig> {
  const config = await configIn(path, async () => configOfDocument(await parseYaml(text)));
  const folder = dirname(path);
  config.makePathsAbsolute(folder);
  for (const user of config.users) {
    makeCommandAbsolute(user, folder);
    makeTokenFileAbsolute(user, folder);
  }
  return config;
}

/** @throws KubeConfigError with the path */
async function configIn(path: string, read: () => Promise<KubeConfig>): Promise<KubeConfig> {
  try {
    return await read();
  } catch (error) {
    const why = messageOf(error);
    throw new KubeConfigError('invalid', `Expected a kubeconfig in "${path}", found: ${why}`, {
      cause: error,
    });
  }
}

/** As in client-go: a command with a slash is relative to the file, others are searched in PATH. */
function makeCommandAbsolute(user: User, folder: string): void {
  const command: unknown = user.exec?.command;
  if (typeof command === 'string' && command.includes('/') && !isAbsolute(command))
    user.exec.command = join(folder, command);
}

function makeTokenFileAbsolute(user: KubeconfigUser, folder: string): void {
  const { tokenFile } = user;
  if (tokenFile !== undefined) Object.assign(user, { tokenFile: resolve(folder, tokenFile) });
}

/** As in client-go: the token of a file is used instead of an inline one. */
async function readTokenFile(user: KubeconfigUser | undefined): Promise<void> {
  if (user?.tokenFile === undefined) return;
  const token = await readCredentialFile('token file', user.tokenFile);
  Object.assign(user, { token });
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

/** The library leaves the standard input of plugins open, where one that asks for a password waits forever, and sets no time limit. */
function limitPlugins(config: KubeConfig, timeoutMs: number, plugins: PluginStop): void {
  const execFn = (command: string, args: readonly string[], options: SpawnOptionsWithoutStdio) =>
    startPlugin(command, args, { ...options, timeout: timeoutMs, stop: plugins.signal });
  const authenticators: unknown = Reflect.get(config, 'authenticators');
  for (const each of Array.isArray(authenticators) ? authenticators : [])
    if (each instanceof ExecAuth) Object.assign(each, { execFn });
}

/** After the end of a plugin, its output is read for this long: a program that it has started may hold it open for ever. */
const drainMs = 1_000;

interface PluginOptions extends SpawnOptionsWithoutStdio {
  readonly timeout: number;
  readonly stop: AbortSignal | undefined;
}

function startPlugin(
  command: string,
  args: readonly string[],
  { stop, ...options }: PluginOptions,
): ChildProcess {
  const killSignal = 'SIGKILL';
  const plugin = spawn(command, args, {
    ...options,
    killSignal,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closeOutput = () => {
    plugin.stdout.destroy();
    plugin.stderr.destroy();
  };
  // A plugin that runs on would keep the process alive.
  const onStop = () => {
    plugin.kill(killSignal);
    closeOutput();
    plugin.emit('error', new KubeConfigError('invalid', 'The credential plugin was stopped'));
  };
  stop?.addEventListener('abort', onStop, { once: true });
  plugin.once('exit', (_code, signal) => {
    stop?.removeEventListener('abort', onStop);
    if (!plugin.killed || signal !== killSignal) {
      const drain = setTimeout(closeOutput, drainMs);
      plugin.once('close', () => clearTimeout(drain));
      return;
    }
    if (stop?.aborted !== true) {
      const limit = `The credential plugin did not end within ${options.timeout / 1_000} s`;
      plugin.emit('error', new KubeConfigError('invalid', limit));
    }
    closeOutput();
  });
  if (stop?.aborted === true) onStop();
  return plugin;
}

function firstOfEachName<T extends { readonly name: string }>(things: readonly T[]): T[] {
  const byName = new Map<string, T>();
  for (const thing of things) if (!byName.has(thing.name)) byName.set(thing.name, thing);
  return [...byName.values()];
}

function selectedView(config: KubeConfig, text: string): KubeconfigView {
  const name = config.getCurrentContext();
  if (!name)
    throw new KubeConfigError(
      'invalid',
      'Expected a current-context in the kubeconfig, found none',
    );
  const context = config.getContextObject(name);
  if (context === null)
    throw new KubeConfigError(
      'not-found',
      `Expected a context "${name}", found ${contextNames(config)}`,
    );
  const cluster = config.getCluster(context.cluster);
  if (cluster === null)
    throw new KubeConfigError('not-found', `Expected a cluster "${context.cluster}", found none`);
  // A context without a user is valid (anonymous), one with an unknown user is not.
  const user: KubeconfigUser | undefined = context.user
    ? (config.getUser(context.user) ?? undefined)
    : undefined;
  if (context.user && user === undefined)
    throw new KubeConfigError('not-found', `Expected a user "${context.user}", found none`);
  const namespace = context.namespace ?? 'default';
  const files = takeFiles(cluster, user);
  return { config, context: name, namespace, cluster, user, files, oidc: takeOidc(user), text };
}

/** Removes the paths from what the library reads, see `readNamedFiles`. */
function takeFiles(cluster: Cluster, user: User | undefined): NamedFiles {
  const files = { ca: cluster.caFile, cert: user?.certFile, key: user?.keyFile };
  Object.assign(cluster, { caFile: undefined });
  if (user !== undefined) Object.assign(user, { certFile: undefined, keyFile: undefined });
  return files;
}

/** Names of the contexts for a message; of many only the first ones. */
function contextNames(config: KubeConfig): string {
  const names = config.getContexts().map(({ name }) => `"${name}"`);
  if (names.length === 0) return 'none';
  const shown = names.slice(0, 10).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

/** Removes the provider from the library's user, see {@link OidcTokens}. */
function takeOidc(user: User | undefined): OidcTokens | undefined {
  if (user?.authProvider?.name !== 'oidc') return undefined;
  const settings: OidcSettings = user.authProvider.config ?? {};
  Object.assign(user, { authProvider: undefined });
  return new OidcTokens(settings);
}

function rejectUnsupported({ cluster, user }: KubeconfigView): void {
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
  const lost = user?.lostImpersonation;
  if (user?.impersonateUser && lost !== undefined)
    throw new KubeConfigError('unsupported', `Impersonation with "${lost}" is not supported`);
}
