import { readFile, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  claimFile,
  type FileClaim,
  FileClaimedError,
  isDevKubeconfig,
  kubeconfigText,
  makeFolder,
  type SandboxWorld,
  type SaveTrouble,
  startSandboxWorld,
  WorldFileError,
  writeFileAtomically,
} from '../../dev/index.ts';
import { fileReason } from '../../runtime/index.ts';
import type { Logger } from '../../telemetry/index.ts';
import { createSystemClock } from '../../util/clock.ts';
import type { Random } from '../../util/random.ts';
import { CliError } from '../exit-code.ts';

export interface DevWorldOptions {
  readonly writeKubeconfig: string;
  readonly persist?: string;
  readonly port: number;
  readonly random: Random;
  readonly logger: Logger;
  /** A line for people. */
  readonly print: (text: string) => void;
}

/** A sandbox with a kubeconfig that says where it is. */
export interface DevWorld {
  readonly url: string;
  /** Does it go on with a world of earlier? */
  readonly isRestored: boolean;
  /** @throws CliError when what has changed last cannot be saved; everything has ended all the same. */
  stop(): Promise<void>;
}

const otherKubeconfig = 'name another file with --write-kubeconfig FILE';
const otherWorld = 'name another file with --persist FILE';

/**
 * Starts a world whose files are this process's alone until it stops.
 * @throws CliError when it cannot start, or another process has these files.
 */
export async function startDevWorld(options: DevWorldOptions): Promise<DevWorld> {
  const { writeKubeconfig, persist, random } = options;
  const claims: FileClaim[] = [];
  const release = async () => {
    for (const claim of claims.toReversed()) await claim.release();
  };
  try {
    claims.push(await claimKubeconfig(writeKubeconfig, random));
    if (persist !== undefined) claims.push(await claimWorld(persist, random));
    const world = await startWorld(options);
    const { url, isRestored } = world;
    const stop = async () => {
      const trouble = await world.stop();
      await removeKubeconfig(url, writeKubeconfig);
      await release();
      if (trouble !== undefined) throw unsavedAtTheEnd(persist, trouble);
    };
    return { url, isRestored, stop };
  } catch (error) {
    await release();
    throw error;
  }
}

async function claimKubeconfig(path: string, random: Random): Promise<FileClaim> {
  const problem = `Cannot write the kubeconfig to "${path}"`;
  const hint = `Choose another file with --write-kubeconfig`;
  try {
    await makeFolder(dirname(path));
    const claim = await claimFile(path, random);
    if (await mayReplace(path)) return claim;
    await claim.release();
  } catch (error) {
    if (error instanceof FileClaimedError)
      throw claimedBy(error, `serves the kubeconfig "${path}"`, otherKubeconfig);
    throw new CliError(`${problem}: ${fileReason(error)}`, { hint, cause: error });
  }
  throw new CliError(`${problem}: it holds something else than one of "homeostat dev"`, { hint });
}

/** What is of another cluster would be lost. */
async function mayReplace(path: string): Promise<boolean> {
  try {
    const text = await readFile(path, 'utf8');
    return text.trim() === '' || isDevKubeconfig(text);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}

async function claimWorld(path: string, random: Random): Promise<FileClaim> {
  try {
    return await claimFile(path, random);
  } catch (error) {
    if (error instanceof FileClaimedError)
      throw claimedBy(error, `keeps its world in "${path}"`, otherWorld);
    const reason = `the folder "${dirname(resolve(path))}" cannot be written: ${fileReason(error)}`;
    throw new CliError(`Cannot keep the world in "${path}": ${reason}`, {
      hint: 'Make the folder, or name a file in another one with --persist',
      cause: error,
    });
  }
}

function claimedBy(error: FileClaimedError, what: string, instead: string): CliError {
  const { pid, host } = error.holder;
  const hint = `End that one, or ${instead}; if there is no such process, remove "${error.lockPath}"`;
  return new CliError(`Another "homeostat dev" (process ${pid} on ${host}) ${what}`, {
    hint,
    cause: error,
  });
}

async function startWorld(options: DevWorldOptions): Promise<SandboxWorld> {
  const { persist, port, random, logger, print, writeKubeconfig: path } = options;
  const world = await startSandboxWorld({
    clock: createSystemClock(),
    random,
    port,
    ...(persist === undefined ? {} : { persistPath: persist }),
    onFailure: (err) => logger.error({ err }, 'The sandbox failed'),
    onTrouble: (trouble) => print(troubleText(persist, trouble)),
  }).catch(explainStart);
  try {
    await writeFileAtomically(path, kubeconfigText(world.url));
  } catch (error) {
    await world.stop();
    throw new CliError(`Cannot write the kubeconfig to "${path}": ${fileReason(error)}`, {
      hint: 'Choose another file with --write-kubeconfig',
      cause: error,
    });
  }
  return world;
}

function explainStart(error: unknown): never {
  if (error instanceof WorldFileError)
    throw new CliError(error.message, {
      hint: 'Name another file with --persist, or remove this one to begin with an empty world',
      cause: error,
    });
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
    throw new CliError('Cannot listen: the port is in use', {
      hint: 'Choose another with --port, or leave it out for any free one',
      cause: error,
    });
  throw error;
}

function troubleText(path: string | undefined, trouble: SaveTrouble | undefined): string {
  if (trouble === undefined) return `The world is saved in "${path}" again`;
  const lost = `what changes from ${timeOf(trouble)} on is lost unless that is mended`;
  return `The world cannot be saved in "${path}" (${fileReason(trouble.error)}): ${lost}`;
}

function unsavedAtTheEnd(path: string | undefined, trouble: SaveTrouble): CliError {
  const reason = fileReason(trouble.error);
  const message = `The world could not be saved in "${path}" (${reason}): what has changed from ${timeOf(trouble)} on is lost`;
  return new CliError(message, { cause: trouble.error });
}

/** On the user's wall. */
function timeOf({ unsavedSinceMs }: SaveTrouble): string {
  return new Date(unsavedSinceMs).toTimeString().slice(0, 8);
}

/** Only what is still ours. */
async function removeKubeconfig(url: string, path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text === kubeconfigText(url)) await rm(path, { force: true });
}
