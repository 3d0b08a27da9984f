import { builtinDocuments, loadBuiltinDescriptions, patternProblem } from '#compile';
import { parseYaml, printYaml } from '#definition';
import { fileReason, readRegularFile } from '#files';
import { createSandbox, type Sandbox } from '#sandbox';
import { type SandboxServer, startSandboxServer } from '#sandbox/node/index.ts';
import type { Clock } from '#util/clock.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { Random } from '#util/random.ts';
import { type SaveFailure, SnapshotSaver } from './snapshot-saver.ts';

export interface SandboxClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** @default 0: any free port */
  readonly port?: number;
  /** File with the snapshot; an existing file is restored. @default undefined: no snapshot */
  readonly persistPath?: string;
  /** A namespace that is created in a new cluster, besides those of every cluster. @default undefined: none */
  readonly namespace?: string;
  /** Labels of the namespace `default` in a new cluster. @default none */
  readonly defaultLabels?: Readonly<Record<string, string>>;
  /** Simulates controllers and a node that runs Pods. @default true */
  readonly controllers?: boolean;
  /** Receives errors that are bugs of the sandbox. */
  readonly onFailure: (error: unknown) => void;
  /** Called when the snapshot cannot be saved, and with undefined when it can be saved again. */
  readonly onSaveStateChange: (failure: SaveFailure | undefined) => void;
}

/** A sandbox that listens on 127.0.0.1. */
export interface SandboxCluster {
  readonly sandbox: Sandbox;
  /** Address of the API. Contains a secret path, which authenticates clients. */
  readonly url: string;
  /** Whether it was restored from a snapshot. */
  readonly isRestored: boolean;
  /** Makes the API server stop responding, or respond again at the same address. */
  setReachable(isReachable: boolean): Promise<void>;
  /** Closes connections and stops controllers. Resolves with the error if the snapshot is not saved. */
  stop(): Promise<SaveFailure | undefined>;
}

/** A file that is no snapshot. It is not changed. */
export class SnapshotFileError extends HomeostatError<'snapshot-file'> {}

/**
 * Starts a sandbox with the built-in kinds, behind a path that cannot be guessed.
 * @throws SnapshotFileError
 */
export async function startSandboxCluster(options: SandboxClusterOptions): Promise<SandboxCluster> {
  const { clock, random, port = 0, persistPath: path, namespace, onSaveStateChange } = options;
  const basePath = `/${random.text(32, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  const snapshot = path === undefined ? undefined : await readIfExists(path);
  const sandbox = createSandboxFrom({ ...options, basePath }, snapshot);
  if (snapshot === undefined && namespace !== undefined) createNamespace(sandbox, namespace);
  if (snapshot === undefined && options.defaultLabels !== undefined)
    labelDefaultNamespace(sandbox, options.defaultLabels);
  let server: SandboxServer | undefined = await startSandboxServer({ sandbox, basePath, port });
  const { url } = server;
  const listen = { sandbox, basePath, port: Number(new URL(url).port) };
  /** Changes one after the other. */
  let changes = Promise.resolve();
  const keeper =
    path === undefined
      ? undefined
      : new SnapshotSaver({ sandbox, path, clock, onStateChange: onSaveStateChange });
  return {
    sandbox,
    url,
    isRestored: snapshot !== undefined,
    setReachable(isReachable) {
      changes = changes.then(async () => {
        if (isReachable) server ??= await startSandboxServer(listen);
        else {
          await server?.stop();
          server = undefined;
        }
      });
      return changes;
    },
    async stop() {
      await changes;
      await server?.stop();
      sandbox.stop();
      return keeper?.stop();
    },
  };
}

function createSandboxFrom(
  {
    basePath,
    clock,
    random,
    onFailure,
    persistPath,
    controllers = true,
  }: SandboxClusterOptions & { readonly basePath: string },
  snapshot: string | undefined,
): Sandbox {
  const { kubernetesVersion, ...schemas } = builtinDocuments();
  const shared = {
    clock,
    random,
    schemas,
    kubernetesVersion,
    loadDescriptions: loadBuiltinDescriptions,
    patternProblem,
    parseYaml: (text: string) => parseYaml(text, 'kubectl'),
    printYaml,
    basePath,
    controllers,
    runsPods: controllers,
    onInternalError: onFailure,
  };
  try {
    return createSandbox({ ...shared, ...(snapshot === undefined ? {} : { snapshot }) });
  } catch (error) {
    if (snapshot === undefined || !(error instanceof Error)) throw error;
    const message = `Cannot restore the cluster from "${persistPath}": ${error.message}`;
    throw new SnapshotFileError('snapshot-file', message, { cause: error });
  }
}

function createNamespace(sandbox: Sandbox, name: string): void {
  sandbox.handle({
    method: 'POST',
    path: '/api/v1/namespaces',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name } }),
  });
}

function labelDefaultNamespace(sandbox: Sandbox, labels: Readonly<Record<string, string>>): void {
  sandbox.handle({
    method: 'PATCH',
    path: '/api/v1/namespaces/default',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { labels } }),
  });
}

/** Maximum size of a saved cluster; a larger one is no text for JavaScript. */
export const maxSnapshotMebibytes = 500;

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readRegularFile(path, maxSnapshotMebibytes);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    const message = `Cannot read the saved cluster in "${path}": ${fileReason(error)}`;
    throw new SnapshotFileError('snapshot-file', message, { cause: error });
  }
}

/** Another cluster in a kubeconfig. */
export interface KubeconfigContext {
  readonly name: string;
  readonly server: string;
}

/** A kubeconfig for servers without authentication: their addresses contain a secret path. The first context is the current one. */
export function kubeconfigText(server: string, others: readonly KubeconfigContext[] = []): string {
  const user = 'homeostat-dev';
  const all = [{ name: user, server }, ...others];
  return printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: all.map((each) => ({ name: each.name, cluster: { server: each.server } })),
    users: [{ name: user, user: {} }],
    contexts: all.map(({ name }) => ({
      name,
      context: { cluster: name, user, namespace: 'default' },
    })),
    'current-context': user,
  });
}

/** Whether the text is a kubeconfig of {@link kubeconfigText}, for any servers. Pure. */
export function isDevKubeconfig(text: string): boolean {
  const [first, ...others] = [...text.matchAll(/^ *(?:- )?server: (\S+)$/gm)].map(
    ([, server = '']) => server,
  );
  if (first === undefined) return false;
  const members = others.map((server, index) => ({ name: `dev-${index + 1}`, server }));
  return kubeconfigText(first, members) === text;
}
