import { bundledSchemas } from '../compile/index.ts';
import { type HealthServer, startHealthServer } from '../http/index.ts';
import { type ClusterConfig, createKubeCluster, type KubeCluster } from '../kube/index.ts';
import {
  type CheckResult,
  checkDefinitions,
  createManager,
  type RefusedFile,
} from '../runtime/index.ts';
import {
  createLogger,
  createMetricRegistry,
  type Logger,
  type LogLevel,
  metricCatalogue,
  type ReadableMetricRegistry,
} from '../telemetry/index.ts';
import { createSystemClock } from '../util/clock.ts';
import { createSystemRandom } from '../util/random.ts';
import { CliError, exitCode } from './exit-code.ts';
import { loadClusterConfig } from './kubeconfig-flags.ts';
import { loadTexts } from './load-texts.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';
import { version } from './version.ts';

export interface RunOptions {
  /** Directories or files with definitions. */
  readonly definitions: readonly string[];
  readonly kubeconfig?: string;
  readonly context?: string;
  /** `host:port`, or `off`. */
  readonly http: string;
  readonly logLevel: LogLevel;
}

/**
 * `homeostat run`: serves the definitions until the signal aborts.
 * Mistakes are printed before anything is sent to the cluster; definitions without any are run.
 * @returns the exit code
 * @throws CliError when it cannot start.
 */
export async function run(
  options: RunOptions,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const texts = await loadTexts(options.definitions);
  const checked = checkDefinitions(texts, {
    schemas: bundledSchemas(),
    sameCrd: 'cluster',
  });
  printDiagnostics(checked.diagnostics, texts, output);
  if (checked.accepted.length === 0) {
    output.error('homeostat: There is no definition to run');
    return exitCode.diagnostics;
  }
  const logger = createLogger({ level: options.logLevel });
  tellRefused(checked.refused, logger);
  const metrics = createMetricRegistry({ processMetrics: true });
  metrics.gauge(metricCatalogue.buildInfo).set(1, [version]);
  const config = await loadClusterConfig(options);
  const cluster = connect(config, logger, metrics);
  const { ownNamespace: runtimeNamespace } = config;
  try {
    await serve({ options, checked, cluster, runtimeNamespace, logger, metrics }, signal);
  } finally {
    await cluster.close();
  }
  logger.info({}, 'Stopped');
  return exitCode.ok;
}

/** What was printed for people is told in the log too: nobody sees the terminal of a Pod. */
function tellRefused(refused: readonly RefusedFile[], logger: Logger): void {
  for (const { file, definitions, diagnostics } of refused) {
    const about = { file, definitions, diagnostics };
    logger.warn(about, 'File with mistakes, its definitions are refused');
  }
}

function connect(
  config: ClusterConfig,
  logger: Logger,
  metrics: ReadableMetricRegistry,
): KubeCluster {
  const clock = createSystemClock();
  const random = createSystemRandom();
  return createKubeCluster({ config, clock, random, logger, metrics });
}

interface Serving {
  readonly options: RunOptions;
  readonly checked: CheckResult;
  readonly cluster: KubeCluster;
  readonly runtimeNamespace: string | undefined;
  readonly logger: Logger;
  readonly metrics: ReadableMetricRegistry;
}

async function serve(
  { options, checked, cluster, runtimeNamespace, logger, metrics }: Serving,
  signal: AbortSignal,
) {
  const { refused, broken } = checked;
  const definitions = checked.accepted.map(({ located }) => located);
  const clock = createSystemClock();
  const random = createSystemRandom();
  const manager = createManager({
    definitions,
    refused,
    broken,
    cluster,
    clock,
    random,
    logger,
    metrics,
    ...(runtimeNamespace === undefined ? {} : { runtimeNamespace }),
  });
  const observe = () => {
    manager.observe();
    cluster.observe();
  };
  const health = await startHealth(options.http, { metrics, view: () => manager.view(), observe });
  try {
    const counts = { definitions: definitions.length, refused: definitionsIn(refused) };
    logger.info({ ...counts, http: health?.url }, 'Starting');
    await manager.run(signal);
  } finally {
    await health?.close();
  }
}

function definitionsIn(refused: readonly RefusedFile[]): number {
  return refused.reduce((sum, { definitions }) => sum + definitions, 0);
}

type HealthSources = Pick<Parameters<typeof startHealthServer>[0], 'metrics' | 'view' | 'observe'>;

async function startHealth(
  address: string,
  sources: HealthSources,
): Promise<HealthServer | undefined> {
  if (address === 'off') return undefined;
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(colon + 1));
  if (colon < 1 || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CliError(`Expected "host:port" or "off" for --http, found "${address}"`);
  }
  try {
    return await startHealthServer({ host, port, ...sources });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`Cannot listen on ${address}: ${reason}`, {
      hint: 'Choose another address with --http, port 0 for any free one, or "off"',
      cause: error,
    });
  }
}
