import { ConsoleService, type RecordsClient, RemoteRecords } from '#console';
import {
  type ConsoleServer,
  DirectRecords,
  ProxiedRecords,
  startConsoleServer,
} from '#console/node/index.ts';
import { createTextLogger } from '#dev';
import { createKubeCluster, type KubeCluster, KubeError } from '#kube';
import { silentMetrics } from '#telemetry';
import { createSystemClock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { createSystemRandom } from '#util/random.ts';
import { whenAborted } from '#util/when-aborted.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { type KubeconfigFlags, loadClusterConfig } from '../kubeconfig-flags.ts';
import type { Output } from '../output.ts';
import { readRecordsToken } from '../records-token.ts';
import { version } from '../version.ts';
import { guardedNamespacesOf } from './cluster-flags.ts';

export interface ConsoleFlags extends KubeconfigFlags {
  readonly port: number;
  /** @default false: the console is read-only */
  readonly allowEdits?: boolean;
  /** `namespace/name` of the Secret with the token for the records of reconciles. */
  readonly recordsSecret: ObjectName;
  /** Address of the runtime. @default undefined: its Pods are asked through the API server */
  readonly recordsUrl?: string;
  /** File with the token, for {@link recordsUrl}. */
  readonly recordsToken?: string;
  /** Where the keys of versions are. @default looked for */
  readonly runtimeNamespace?: string;
  /** Name of the member cluster that the console shows. @default undefined: the cluster of the runtime */
  readonly recordsCluster?: string;
}

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
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
    const client = await recordsClient(flags, cluster);
    const member = flags.recordsCluster;
    const backend = new ConsoleService({
      cluster,
      clock,
      random,
      logger,
      runtimeNamespace: flags.runtimeNamespace,
      guardedNamespaces: guardedNamespacesOf(flags.runtimeNamespace),
      records: new RemoteRecords({
        client,
        clock,
        ...(member !== undefined && { cluster: member }),
      }),
      info: {
        home: 'console',
        version,
        cluster: config.server.replace(/^https?:\/\//, ''),
        canEdit: flags.allowEdits === true,
      },
    });
    // The runtime is asked for its records before the first page is opened.
    await backend.info(signal);
    const server = await listen(() =>
      startConsoleServer({ backend, clock, random, port: flags.port }),
    );
    const rights = flags.allowEdits === true ? 'edits are permitted' : 'read-only';
    output.print(`Console of ${config.server} (${rights}), until Ctrl-C:\n\n  ${server.url}\n`);
    await whenAborted(signal);
    await server.close();
  } catch (error) {
    // Ctrl-C while it connects.
    if (signal.aborted) return exitCode.ok;
    if (!(error instanceof KubeError)) throw error;
    throw new CliError(`Cannot connect to a cluster: ${error.message}`, {
      hint: `The kubeconfig names the server ${config.server}; another one is named with --kubeconfig, KUBECONFIG or --context`,
      cause: error,
    });
  } finally {
    await cluster.close();
  }
  return exitCode.ok;
}

/** @throws CliError for flags that do not fit together, or a token that cannot be read */
async function recordsClient(
  { recordsUrl: url, recordsToken: file, recordsSecret: secret }: ConsoleFlags,
  { api }: KubeCluster,
): Promise<RecordsClient> {
  if (url === undefined && file === undefined) return new ProxiedRecords({ api, secret });
  if (url === undefined || file === undefined)
    throw new CliError('Expected both --records-url and --records-token, found one of them');
  if (!/^https?:\/\/[^/]/.test(url))
    throw new CliError(
      `Expected an address such as "http://127.0.0.1:8080" for --records-url, found "${url}"`,
    );
  await readRecordsToken(file);
  return new DirectRecords({ url, readToken: () => readRecordsToken(file) });
}

/** @throws CliError when the port is in use */
async function listen(start: () => Promise<ConsoleServer>): Promise<ConsoleServer> {
  try {
    return await start();
  } catch (error) {
    const reason = messageOf(error);
    throw new CliError(`Cannot listen: ${reason}`, {
      hint: 'Choose another port with --port, or leave it out for any free one',
      cause: error,
    });
  }
}
