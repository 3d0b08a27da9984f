import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createTextLogger } from '#dev';
import { createKubeCluster, type KubeCluster, KubeError } from '#kube';
import { silentMetrics } from '#telemetry';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import { CliError } from '../exit-code.ts';
import { loadClusterConfig } from '../kubeconfig-flags.ts';
import type { Output } from '../output.ts';
import { defaultKubeconfig } from './default-kubeconfig.ts';
import { type Kinds, loadKinds } from './kinds.ts';

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** A member of `homeostat dev --clusters`: the context of that name. */
  readonly cluster?: string;
}

/** The cluster of one command. */
export interface ClusterSession {
  readonly cluster: KubeCluster;
  readonly kinds: Kinds;
  readonly clock: Clock;
  /**
   * Connects to the member cluster of a context of the same kubeconfig; the connection is closed with the session.
   * @throws CliError if there is no such context
   */
  readonly connectContext: (
    name: string,
    labels: Readonly<Record<string, string>>,
  ) => Promise<KubeCluster>;
  /** Namespace of objects that have none in their manifest. */
  readonly namespace: string;
  readonly output: Output;
  readonly signal: AbortSignal;
}

export interface SessionContext {
  readonly flags: ClusterFlags;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Flow of the requests, for fairness and metrics. */
export const cliFlow = { name: 'cli', priority: 'object' } as const;

/**
 * Runs an action with a cluster, and closes its connections.
 * @throws CliError for everything that the server rejects.
 */
export async function withCluster<T>(
  { flags, output, signal }: SessionContext,
  work: (session: ClusterSession) => Promise<T>,
): Promise<T> {
  const { cluster: context = flags.context } = flags;
  const chosen = await chooseKubeconfig(flags);
  const config = await loadClusterConfig({ ...chosen, ...(context !== undefined && { context }) });
  const clock = createSystemClock();
  const logger = createTextLogger({ level: 'error', print: (line) => output.error(line) });
  const shared = {
    logger,
    metrics: silentMetrics,
    clock,
    random: createSystemRandom(),
  };
  const { cluster: name } = flags;
  const cluster = createKubeCluster({ ...shared, config, ...(name !== undefined && { name }) });
  const members: KubeCluster[] = [];
  const connectContext = async (name: string, labels: Readonly<Record<string, string>>) => {
    const own = await loadClusterConfig({ ...chosen, context: name });
    const member = createKubeCluster({ ...shared, config: own, name, labels: () => labels });
    members.push(member);
    return member;
  };
  try {
    const kinds = await loadKinds(cluster.api, signal);
    const { namespace = config.namespace } = flags;
    return await work({ cluster, kinds, clock, connectContext, namespace, output, signal });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const hint =
      error.status === 0 ? hintIfUnreachable(config.server, chosen !== flags) : undefined;
    throw new CliError(error.message, { ...(hint !== undefined && { hint }), cause: error });
  } finally {
    await Promise.all([cluster, ...members].map((each) => each.close()));
  }
}

function hintIfUnreachable(server: string, isOfDev: boolean): string {
  return isOfDev
    ? 'Is "homeostat dev" still running? Another cluster is named with --kubeconfig'
    : `The kubeconfig names the server ${server}`;
}

/**
 * The flag, else that of a running `homeostat dev` here or in a folder above, else `KUBECONFIG`. Never the one in the home: these
 * commands are for trying things out, and must not use a cluster that the user did not name.
 */
async function chooseKubeconfig(flags: ClusterFlags): Promise<ClusterFlags> {
  if (flags.kubeconfig !== undefined) return flags;
  const ofDev = await findUpwards(defaultKubeconfig, resolve('.'));
  if (ofDev !== undefined) return { ...flags, kubeconfig: ofDev };
  if ((process.env.KUBECONFIG ?? '') !== '') return flags;
  throw new CliError('No cluster found: no "homeostat dev" runs in this folder', {
    hint: 'Start one with "homeostat dev", or name a kubeconfig with --kubeconfig',
  });
}

async function findUpwards(name: string, folder: string): Promise<string | undefined> {
  const path = join(folder, name);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) return path;
  const above = dirname(folder);
  return above === folder ? undefined : findUpwards(name, above);
}
