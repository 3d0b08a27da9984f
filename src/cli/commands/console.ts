import { ConsoleService } from '../../console/index.ts';
import { type ConsoleServer, startConsoleServer } from '../../console/node/index.ts';
import { createTextLogger } from '../../dev/index.ts';
import { createKubeCluster, KubeError } from '../../kube/index.ts';
import { silentMetrics } from '../../telemetry/index.ts';
import { createSystemClock } from '../../util/clock.ts';
import { createSystemRandom } from '../../util/random.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { type KubeconfigFlags, loadClusterConfig } from '../kubeconfig-flags.ts';
import type { Output } from '../output.ts';
import { version } from '../version.ts';

export interface ConsoleFlags extends KubeconfigFlags {
  readonly port: number;
  /** @default false: the console is read-only */
  readonly allowEdits?: boolean;
}

/**
 * `homeostat console`: serves the console of a cluster on loopback until the signal aborts, with the rights of the kubeconfig.
 * @returns the exit code
 * @throws CliError when it cannot start.
 */
export async function serveConsole(
  flags: ConsoleFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const config = await loadClusterConfig(flags);
  const clock = createSystemClock();
  const random = createSystemRandom();
  const logger = createTextLogger({ level: 'error', print: (line) => output.error(line) });
  const cluster = createKubeCluster({ config, clock, random, logger, metrics: silentMetrics });
  try {
    await cluster.start(signal);
    const backend = new ConsoleService({
      ...{ cluster, clock, random, logger },
      info: {
        home: 'console',
        version,
        cluster: config.server.replace(/^https?:\/\//, ''),
        canEdit: flags.allowEdits === true,
      },
    });
    const server = await listen(() =>
      startConsoleServer({ backend, clock, random, port: flags.port }),
    );
    const rights = flags.allowEdits === true ? 'edits are permitted' : 'read-only';
    output.print(`Console of ${config.server} (${rights}), until Ctrl-C:\n\n  ${server.url}\n`);
    await whenAborted(signal);
    await server.close();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new CliError(`Cannot connect to a cluster: ${error.message}`, {
      hint: 'Name a kubeconfig with --kubeconfig or KUBECONFIG, and one of its contexts with --context',
      cause: error,
    });
  } finally {
    await cluster.close();
  }
  return exitCode.ok;
}

/** @throws CliError when the port is in use */
async function listen(start: () => Promise<ConsoleServer>): Promise<ConsoleServer> {
  try {
    return await start();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`Cannot listen: ${reason}`, {
      hint: 'Choose another port with --port, or leave it out for any free one',
      cause: error,
    });
  }
}
