import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  type FileLock,
  FileLockedError,
  isDevKubeconfig,
  kubeconfigText,
  lockFile,
  makeFolder,
  type SandboxCluster,
  type SaveFailure,
  SnapshotFileError,
  startSandboxCluster,
  writeFileAtomically,
} from '#dev';
import { fileReason, readRegularFile } from '#files';
import type { Logger } from '#telemetry';
import { createSystemClock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';
import { CliError } from '../exit-code.ts';

export interface DevClusterOptions {
  readonly writeKubeconfig: string;
  readonly persist?: string;
  readonly port: number;
  /** A namespace that a new cluster has, besides those of every cluster. @default undefined: none */
  readonly namespace?: string;
  /** Labels of the namespace `default` of a new cluster. @default none */
  readonly defaultLabels?: Readonly<Record<string, string>>;
  /** Simulates controllers and Pods. @default true */
  readonly controllers?: boolean;
  /** Other clusters in the kubeconfig. @default none */
  readonly members?: readonly { readonly name: string; readonly url: string }[];
  readonly random: Random;
  readonly logger: Logger;
  /** A line for people. */
  readonly print: (text: string) => void;
}

/** A sandbox with its kubeconfig. */
export interface DevCluster {
  readonly url: string;
  /** Whether it was restored from a snapshot. */
  readonly isRestored: boolean;
  /** @throws CliError if the last changes cannot be saved; the cluster is stopped in any case. */
  stop(): Promise<void>;
}

const otherKubeconfigHint = 'name another file with --write-kubeconfig FILE';
const otherSnapshotHint = 'name another file with --persist FILE';

/**
 * Starts a sandbox cluster. Its files are locked for this process until it stops.
 * @throws CliError when it cannot start, or another process has these files.
 */
export async function startDevCluster(options: DevClusterOptions): Promise<DevCluster> {
  const { writeKubeconfig: path, random } = options;
  const claim = await lockKubeconfig(path, random);
  try {
    const { sandbox, stop: stopSandbox } = await startKeptSandbox(options);
    const { url, isRestored } = sandbox;
    const kubeconfig = devKubeconfig(url, options);
    try {
      await writeFileAtomically(path, kubeconfig);
    } catch (error) {
      await stopSandbox();
      throw new CliError(`Cannot write the kubeconfig to "${path}": ${fileReason(error)}`, {
        hint: 'Choose another file with --write-kubeconfig',
        cause: error,
      });
    }
    const stop = async () => {
      try {
        await stopSandbox();
      } finally {
        await removeKubeconfig(kubeconfig, path);
        await claim.release();
      }
    };
    return { url, isRestored, stop };
  } catch (error) {
    await claim.release();
    throw error;
  }
}

type KeptSandboxOptions = Pick<
  DevClusterOptions,
  'persist' | 'namespace' | 'defaultLabels' | 'controllers' | 'random' | 'logger' | 'print'
> &
  Partial<Pick<DevClusterOptions, 'port'>>;

/** A sandbox that may be kept in a file. */
export interface KeptSandbox {
  readonly sandbox: SandboxCluster;
  /** @throws CliError if the last changes cannot be saved; the sandbox is stopped in any case. */
  stop(): Promise<void>;
}

/**
 * Starts a sandbox. The file in which it is kept is locked for this process until it stops.
 * @throws CliError when it cannot start, or another process has the file.
 */
export async function startKeptSandbox(options: KeptSandboxOptions): Promise<KeptSandbox> {
  const { persist, random } = options;
  const claim = persist === undefined ? undefined : await lockSnapshot(persist, random);
  try {
    const sandbox = await startSandbox(options);
    const stop = async () => {
      const failure = await sandbox.stop();
      await claim?.release();
      if (failure !== undefined) throw unsavedError(persist, failure);
    };
    return { sandbox, stop };
  } catch (error) {
    await claim?.release();
    throw error;
  }
}

async function lockKubeconfig(path: string, random: Random): Promise<FileLock> {
  const problem = `Cannot write the kubeconfig to "${path}"`;
  const hint = `Choose another file with --write-kubeconfig`;
  try {
    await makeFolder(dirname(path));
    const claim = await lockFile(path, random);
    if (await mayReplace(path)) return claim;
    await claim.release();
  } catch (error) {
    if (error instanceof FileLockedError)
      throw lockedError(error, `serves the kubeconfig "${path}"`, otherKubeconfigHint);
    throw new CliError(`${problem}: ${fileReason(error)}`, { hint, cause: error });
  }
  throw new CliError(`${problem}: the file was not written by Homeostat`, { hint });
}

/** Keeps a file of another cluster from being overwritten. */
async function mayReplace(path: string): Promise<boolean> {
  try {
    const text = await readRegularFile(path);
    return text.trim() === '' || isDevKubeconfig(text);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}

async function lockSnapshot(path: string, random: Random): Promise<FileLock> {
  try {
    return await lockFile(path, random);
  } catch (error) {
    if (error instanceof FileLockedError)
      throw lockedError(error, `already uses "${path}"`, otherSnapshotHint);
    const reason = `the folder "${dirname(resolve(path))}" cannot be written: ${fileReason(error)}`;
    throw new CliError(`Cannot keep the cluster in "${path}": ${reason}`, {
      hint: 'Create the folder, or choose a file in another one with --persist',
      cause: error,
    });
  }
}

function lockedError(error: FileLockedError, what: string, instead: string): CliError {
  const { pid, host } = error.owner;
  const hint = `Stop it, or ${instead}; if there is no such process, remove "${error.lockPath}"`;
  return new CliError(`Another Homeostat process (${pid} on ${host}) ${what}`, {
    hint,
    cause: error,
  });
}

function startSandbox(options: KeptSandboxOptions): Promise<SandboxCluster> {
  const { persist, port, random, logger, print, namespace, defaultLabels, controllers } = options;
  return startSandboxCluster({
    clock: createSystemClock(),
    random,
    ...(port !== undefined && { port }),
    ...(namespace !== undefined && { namespace }),
    ...(defaultLabels !== undefined && { defaultLabels }),
    ...(controllers !== undefined && { controllers }),
    ...(persist !== undefined && { persistPath: persist }),
    onFailure: (err) => logger.error({ err }, 'The sandbox failed'),
    onSaveStateChange: (failure) => print(saveMessage(persist, failure)),
  }).catch(throwStartError);
}

function devKubeconfig(url: string, { members = [] }: DevClusterOptions): string {
  return kubeconfigText(
    url,
    members.map((member) => ({ name: member.name, server: member.url })),
  );
}

function throwStartError(error: unknown): never {
  if (error instanceof SnapshotFileError)
    throw new CliError(error.message, {
      hint: 'Choose another file with --persist, or remove this one to start with an empty cluster',
      cause: error,
    });
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
    throw new CliError('Cannot listen: the port is in use', {
      hint: 'Choose another with --port, or leave it out for any free one',
      cause: error,
    });
  throw error;
}

function saveMessage(path: string | undefined, failure: SaveFailure | undefined): string {
  if (failure === undefined) return `The cluster is saved in "${path}" again`;
  const lost = `changes after ${timeOf(failure)} are lost unless this is fixed`;
  return `The cluster cannot be saved in "${path}" (${fileReason(failure.error)}): ${lost}`;
}

function unsavedError(path: string | undefined, failure: SaveFailure): CliError {
  const reason = fileReason(failure.error);
  const message = `The cluster could not be saved in "${path}" (${reason}): changes after ${timeOf(failure)} are lost`;
  return new CliError(message, { cause: failure.error });
}

/** As local time. */
function timeOf({ unsavedSinceMs }: SaveFailure): string {
  return new Date(unsavedSinceMs).toTimeString().slice(0, 8);
}

/** Removes only files that this process has written. */
async function removeKubeconfig(own: string, path: string): Promise<void> {
  const text = await readRegularFile(path).catch(() => '');
  if (text === own) await rm(path, { force: true });
}
