import { readFile } from 'node:fs/promises';
import { builtinDocuments, loadBuiltinDescriptions, patternProblem } from '../compile/index.ts';
import { parseYaml } from '../definition/index.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { startSandboxServer } from '../sandbox/node/index.ts';
import type { Clock } from '../util/clock.ts';
import { HomeostatError } from '../util/homeostat-error.ts';
import type { Random } from '../util/random.ts';
import { type SaveTrouble, WorldKeeper } from './world-keeper.ts';

export interface SandboxWorldOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** @default 0: any free port */
  readonly port?: number;
  /** Where the world is kept; a file that is there already is gone on with. @default undefined: nowhere */
  readonly persistPath?: string;
  /** Told of failures that are our own bugs. */
  readonly onFailure: (error: unknown) => void;
  /** Told when the world cannot be saved any more, and when it can again (undefined). */
  readonly onTrouble: (trouble: SaveTrouble | undefined) => void;
}

/** A sandbox that listens on 127.0.0.1. */
export interface SandboxWorld {
  readonly sandbox: Sandbox;
  /** Where its API is; holds the secret that lets clients in. */
  readonly url: string;
  /** Does it go on with a world of earlier? */
  readonly isRestored: boolean;
  /** Ends its connections and what it does by itself. Resolves with why its world is not saved. */
  stop(): Promise<SaveTrouble | undefined>;
}

/** A file that holds no world. It is left as it is. */
export class WorldFileError extends HomeostatError<'world-file'> {}

/**
 * Starts a sandbox with the built-in kinds, behind a path that nobody can guess.
 * @throws WorldFileError
 */
export async function startSandboxWorld(options: SandboxWorldOptions): Promise<SandboxWorld> {
  const { clock, random, port = 0, persistPath: path, onTrouble } = options;
  const basePath = `/${random.text(32, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  const world = path === undefined ? undefined : await readIfThere(path);
  const sandbox = createWorld({ ...options, basePath }, world);
  const server = await startSandboxServer({ sandbox, basePath, port });
  const keeper =
    path === undefined ? undefined : new WorldKeeper({ sandbox, path, clock, onTrouble });
  return {
    sandbox,
    url: server.url,
    isRestored: world !== undefined,
    async stop() {
      await server.stop();
      sandbox.stop();
      return keeper?.stop();
    },
  };
}

function createWorld(
  {
    basePath,
    clock,
    random,
    onFailure,
    persistPath,
  }: SandboxWorldOptions & { readonly basePath: string },
  world: string | undefined,
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
    onFailure,
  };
  try {
    return createSandbox({ ...shared, ...(world === undefined ? {} : { world }) });
  } catch (error) {
    if (world === undefined || !(error instanceof Error)) throw error;
    const message = `Cannot go on with the world in "${persistPath}": ${error.message}`;
    throw new WorldFileError('world-file', message, { cause: error });
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    const message = `Cannot read the world in "${path}": ${error instanceof Error ? error.message : error}`;
    throw new WorldFileError('world-file', message, { cause: error });
  }
}
