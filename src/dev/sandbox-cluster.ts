import { open } from 'node:fs/promises';
import { builtinDocuments, loadBuiltinDescriptions, patternProblem } from '../compile/index.ts';
import { parseYaml, printYaml } from '../definition/index.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { type SandboxServer, startSandboxServer } from '../sandbox/node/index.ts';
import type { Clock } from '../util/clock.ts';
import { HomeostatError } from '../util/homeostat-error.ts';
import type { Random } from '../util/random.ts';
import { addressIn, newAddress, type SandboxAddress, withAddress } from './kept-address.ts';
import { type SaveFailure, SnapshotSaver } from './snapshot-saver.ts';

export interface SandboxClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** @default 0: that of the snapshot if it is free, else any free port */
  readonly port?: number;
  /** File with the snapshot and the address; an existing file is restored. @default undefined: no snapshot */
  readonly persistPath?: string;
  /** A namespace that is created in a new cluster, besides those of every cluster. @default undefined: none */
  readonly namespace?: string;
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
  const { clock, persistPath: path, namespace, onSaveStateChange } = options;
  const file = path === undefined ? undefined : await readIfExists(path);
  const { sandbox, address, ...listening } = await listen(options, file);
  let server: SandboxServer | undefined = listening.server;
  const { url } = server;
  if (file === undefined && namespace !== undefined) createNamespace(sandbox, namespace);
  /** Changes one after the other. */
  let changes = Promise.resolve();
  const kept = {
    onChange: (listener: () => void) => sandbox.onChange(listener),
    snapshotText: () => withAddress(sandbox.snapshotText(), address),
  };
  const keeper =
    path === undefined
      ? undefined
      : new SnapshotSaver({ sandbox: kept, path, clock, onStateChange: onSaveStateChange });
  // The address may be new.
  keeper?.noteChange();
  return {
    sandbox,
    url,
    isRestored: file !== undefined,
    setReachable(isReachable) {
      changes = changes.then(async () => {
        if (isReachable)
          server ??= await startSandboxServer({
            sandbox,
            basePath: address.path,
            port: address.port,
          });
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

interface Listening {
  readonly sandbox: Sandbox;
  readonly server: SandboxServer;
  readonly address: SandboxAddress;
}

/** Listens at the kept address, so that clients of the last run continue, or at a new one. @throws SnapshotFileError */
async function listen(
  options: SandboxClusterOptions,
  file: SnapshotFile | undefined,
): Promise<Listening> {
  const { random, port = 0 } = options;
  const kept = file?.isPrivate === true ? addressIn(file.text) : undefined;
  if (kept !== undefined) {
    const address = port === 0 ? kept : { ...kept, port };
    try {
      return await listenAt(address, options, file);
    } catch (error) {
      // The program that has the port may know the path by now.
      if (port !== 0 || !hasCode(error, 'EADDRINUSE')) throw error;
    }
  }
  return listenAt(newAddress(random, port), options, file);
}

async function listenAt(
  { path: basePath, port }: SandboxAddress,
  options: SandboxClusterOptions,
  file: SnapshotFile | undefined,
): Promise<Listening> {
  const sandbox = createSandboxFrom({ ...options, basePath }, file?.text);
  try {
    const server = await startSandboxServer({ sandbox, basePath, port });
    return { sandbox, server, address: { path: basePath, port: Number(new URL(server.url).port) } };
  } catch (error) {
    sandbox.stop();
    throw error;
  }
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
    parseYaml,
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

interface SnapshotFile {
  readonly text: string;
  /** No other user can read it. */
  readonly isPrivate: boolean;
}

async function readIfExists(path: string): Promise<SnapshotFile | undefined> {
  try {
    await using file = await open(path);
    const { mode, uid } = await file.stat();
    const isPrivate = (mode & 0o077) === 0 && uid === process.getuid?.();
    return { text: await file.readFile('utf8'), isPrivate };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    const message = `Cannot read the saved cluster in "${path}": ${error instanceof Error ? error.message : error}`;
    throw new SnapshotFileError('snapshot-file', message, { cause: error });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
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
