import { ServerAvailability } from '#kube';
import { createMetricRegistry, metricCatalogue } from '#telemetry';
import { serverPolicyOf } from './cluster-servers.ts';
import { checkConversionFlags, loadConversion } from './conversion-flags.ts';
import { CliError, exitCode } from './exit-code.ts';
import { httpRulesOf } from './http-allow.ts';
import { loadClusterConfig } from './kubeconfig-flags.ts';
import { createLeaderElection } from './leader-election.ts';
import { loadManifests } from './load-manifests.ts';
import type { Output } from './output.ts';
import { readRecordsToken } from './records-token.ts';
import type { RunEnvironment } from './run-environment.ts';
import { defaultRuntimeNamespace, electsLeader, type RunOptions } from './run-options.ts';
import type { InitialCheck } from './runtime-factory.ts';
import { serve } from './serve.ts';
import { chooseSources } from './source-flags.ts';
import { version } from './version.ts';

/**
 * `homeostat run`: serves the definitions of its sources until the signal aborts, and reloads changed ones.
 * Errors in directories are printed before anything is sent to the cluster; with leader election, the leader prints them. Without a
 * definition it waits for one, unless only directories are given outside of a Pod: then it reports this and ends.
 * @returns the exit code
 * @throws CliError when it cannot start.
 */
export async function run(
  options: RunOptions,
  { output, environment }: { readonly output: Output; readonly environment: RunEnvironment },
  signal: AbortSignal,
): Promise<number> {
  const kinds = chooseSources(options);
  checkConversionFlags(options);
  const logger = environment.createLogger(options.logLevel);
  const { definitions: paths = [] } = options;
  // In a Pod a volume may be filled later, and the definitions that ran before are stored in the cluster.
  const isInPod = await runsInPod(options);
  const isElected = electsLeader(options, isInPod);
  const waits = isInPod || kinds.some((kind) => kind !== 'directories');
  const manifests = await loadManifests(paths, { mayBeEmpty: waits, mayBeMissing: isInPod });
  const loadFactory = () => import('./runtime-factory.ts');
  // A follower stays small: the modules that read definitions are loaded when it becomes the leader.
  const first = isElected
    ? undefined
    : (await loadFactory()).checkInitialManifests(manifests, output);
  if (first?.accepted === 0 && !waits) {
    output.error('homeostat: There is no definition to run');
    return exitCode.failure;
  }
  const records = await createRecords(options, environment);
  const metrics = createMetricRegistry({ processMetrics: true });
  metrics.gauge(metricCatalogue.buildInfo).set(1, [version]);
  const config = await loadClusterConfig(options);
  const servers = serverPolicyOf(options.clusterServers, config.server);
  const { clock, random } = environment;
  const namespace = options.namespace ?? config.ownNamespace ?? defaultRuntimeNamespace;
  const availability = new ServerAvailability({ clock, logger, metrics });
  const shared = { config, clock, random, logger, metrics, availability };
  const election = createLeaderElection({
    ...shared,
    flags: options,
    isElected,
    namespace,
    exitNow: environment.exitNow,
  });
  // A namespace from the user or the Pod belongs to this runtime, and so does one with a Lease that its replicas compete for. Otherwise it is
  // only the default of an installation.
  const ownsNamespace = (options.namespace ?? config.ownNamespace) !== undefined || isElected;
  const runtimes = {
    clock,
    random,
    logger,
    metrics,
    namespace,
    ownsNamespace,
    options,
    output,
    kinds,
    manifests,
    ...(first && { initialCheck: first }),
    http: {
      ...{ server: config.server, election },
      ...(environment.variables && { environment: environment.variables }),
      allowed: httpRulesOf(options.httpAllow),
      isAlwaysServed: options.httpObjects === true,
    },
    ...(records && { observer: records.recorder }),
  };
  await serve(
    {
      ...shared,
      http: options.http,
      election,
      servers,
      startFields: countsOf(first),
      ...(records && { records }),
      loadRuntimeFactory: async () => {
        const { createRuntimeFactory } = await loadFactory();
        environment.limitHeapGrowth();
        const conversion = await loadConversion({ ...runtimes, flags: options });
        return createRuntimeFactory({ ...runtimes, ...(conversion && { conversion }) });
      },
    },
    signal,
  );
  logger.info({}, 'Stopped');
  return exitCode.ok;
}

/**
 * The records of reconciles, for the console. Undefined: nothing is recorded.
 * @throws CliError
 */
async function createRecords(
  { consoleRecords: file, http }: RunOptions,
  { clock, random }: RunEnvironment,
) {
  if (file === undefined) return undefined;
  if (http === 'off')
    throw new CliError('Expected an address for --http with --console-records, found "off"');
  await readRecordsToken(file);
  const { ReconcileRecorder } = await import('#console');
  const recorder = new ReconcileRecorder({ clock, random });
  return { recorder, readToken: () => readRecordsToken(file) };
}

/** False without a cluster; the error is reported when the cluster is needed. */
function runsInPod(options: RunOptions): Promise<boolean> {
  return loadClusterConfig(options).then(
    ({ ownNamespace }) => ownNamespace !== undefined,
    () => false,
  );
}

/** For the log. */
function countsOf(first: InitialCheck | undefined): object {
  return first === undefined ? {} : { definitions: first.accepted, rejected: first.rejected };
}
