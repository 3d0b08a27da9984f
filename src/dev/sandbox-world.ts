import { builtinDocuments } from '../compile/index.ts';
import { parseYaml } from '../definition/index.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { startSandboxServer } from '../sandbox/node/index.ts';
import type { Clock } from '../util/clock.ts';
import type { Random } from '../util/random.ts';

export interface SandboxWorldOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** @default 0: any free port */
  readonly port?: number;
  /** Told of failures that are our own bugs. */
  readonly onFailure: (error: unknown) => void;
}

/** A sandbox that listens on 127.0.0.1. */
export interface SandboxWorld {
  readonly sandbox: Sandbox;
  /** Where its API is; holds the secret that lets clients in. */
  readonly url: string;
  /** Ends its connections and what it does by itself. */
  stop(): Promise<void>;
}

/** Starts a sandbox with the built-in kinds, behind a path that nobody can guess. */
export async function startSandboxWorld(options: SandboxWorldOptions): Promise<SandboxWorld> {
  const { clock, random, port = 0, onFailure } = options;
  const basePath = `/${random.text(32, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  const { kubernetesVersion, ...schemas } = builtinDocuments();
  const sandbox = createSandbox({
    clock,
    random,
    schemas,
    kubernetesVersion,
    parseYaml,
    basePath,
    onFailure,
  });
  const server = await startSandboxServer({ sandbox, basePath, port });
  return {
    sandbox,
    url: server.url,
    async stop() {
      await server.stop();
      sandbox.stop();
    },
  };
}
