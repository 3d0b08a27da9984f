import { ServerContact } from '../kube/index.ts';
import { createMetricRegistry, metricCatalogue } from '../telemetry/index.ts';
import type { FirstCheck } from './cluster-runtimes.ts';
import { createContest } from './election.ts';
import { exitCode } from './exit-code.ts';
import { loadClusterConfig } from './kubeconfig-flags.ts';
import { loadTexts } from './load-texts.ts';
import type { Output } from './output.ts';
import type { RunEnvironment } from './run-environment.ts';
import type { RunOptions } from './run-options.ts';
import { serve } from './serve.ts';
import { chooseSources } from './source-flags.ts';
import { version } from './version.ts';

/**
 * `homeostat run`: serves the definitions of its sources until the signal aborts, and follows what changes in them.
 * Mistakes in directories are printed before anything is sent to the cluster; where processes contend for a lead, by the one that has it. Without a
 * definition it waits for one to come, but when somebody has named directories alone, and not in a Pod: then it says so and ends.
 * @returns the exit code
 * @throws CliError when it cannot start.
 */
export async function run(
  options: RunOptions,
  { output, environment }: { readonly output: Output; readonly environment: RunEnvironment },
  signal: AbortSignal,
): Promise<number> {
  const kinds = chooseSources(options);
  const logger = environment.createLogger(options.logLevel);
  const { definitions: paths = [] } = options;
  // What is mounted into a Pod may still come, and what ran before is on record.
  const waits = kinds.some((kind) => kind !== 'directories') || (await runsInPod(options));
  const texts = await loadTexts(paths, { mayBeEmpty: waits });
  const world = () => import('./cluster-runtimes.ts');
  // A follower is small: what looks into definitions is loaded with the lead.
  const first = options.leaderElect ? undefined : (await world()).checkFirst(texts, output);
  if (first?.result.accepted.length === 0 && !waits) {
    output.error('homeostat: There is no definition to run');
    return exitCode.diagnostics;
  }
  const metrics = createMetricRegistry({ processMetrics: true });
  metrics.gauge(metricCatalogue.buildInfo).set(1, [version]);
  const config = await loadClusterConfig(options);
  const { clock, random } = environment;
  const namespace = options.namespace ?? config.ownNamespace ?? 'homeostat-system';
  const contact = new ServerContact({ clock, logger, metrics });
  const place = { config, clock, random, logger, metrics, contact };
  const contest = createContest({
    ...{ ...place, flags: options, namespace },
    endNow: environment.endNow,
  });
  // Else it is only where a runtime of the cluster would live. Who contends for its Lease is one of its replicas.
  const ownsNamespace =
    (options.namespace ?? config.ownNamespace) !== undefined || options.leaderElect === true;
  const runtimes = {
    ...{ clock, random, logger, metrics, namespace, ownsNamespace },
    ...{ options, output, kinds, texts, ...(first && { first }) },
  };
  await serve(
    {
      ...{ ...place, http: options.http, contest, found: countsOf(first) },
      loadRuntimes: async () => (await world()).clusterRuntimes(runtimes),
    },
    signal,
  );
  logger.info({}, 'Stopped');
  return exitCode.ok;
}

/** False where there is no cluster at all: that is told when it is needed. */
function runsInPod(options: RunOptions): Promise<boolean> {
  return loadClusterConfig(options).then(
    ({ ownNamespace }) => ownNamespace !== undefined,
    () => false,
  );
}

/** For the log. */
function countsOf(first: FirstCheck | undefined): object {
  if (first === undefined) return {};
  const { accepted, refused } = first.result;
  return {
    definitions: accepted.length,
    refused: refused.reduce((sum, { definitions }) => sum + definitions, 0),
  };
}
