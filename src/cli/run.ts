import { bundledSchemas } from '../compile/index.ts';
import type { KubeCluster } from '../kube/index.ts';
import {
  type CheckResult,
  checkDefinitions,
  createTextCheck,
  rememberChecks,
  type TextFindings,
} from '../runtime/index.ts';
import { createMetricRegistry, metricCatalogue } from '../telemetry/index.ts';
import { createSources } from './definition-sources.ts';
import { createContest } from './election.ts';
import { exitCode } from './exit-code.ts';
import { FindingsTeller } from './findings-teller.ts';
import { loadClusterConfig } from './kubeconfig-flags.ts';
import { loadTexts } from './load-texts.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';
import type { RunEnvironment } from './run-environment.ts';
import type { RunOptions } from './run-options.ts';
import { serve } from './serve.ts';
import { chooseSources } from './source-flags.ts';
import { version } from './version.ts';

/**
 * `homeostat run`: serves the definitions of its sources until the signal aborts, and follows what changes in them.
 * Mistakes in directories are printed before anything is sent to the cluster. Without a definition it waits for one to come, but when
 * somebody has named directories alone, and not in a Pod: then it says so and ends.
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
  const schemas = bundledSchemas();
  const { remember, recall } = rememberChecks(createTextCheck(schemas));
  const checked = checkDefinitions(texts, { schemas, check: remember, sameCrd: 'cluster' });
  printDiagnostics(checked.diagnostics, texts, output);
  if (checked.accepted.length === 0 && !waits) {
    output.error('homeostat: There is no definition to run');
    return exitCode.diagnostics;
  }
  const metrics = createMetricRegistry({ processMetrics: true });
  metrics.gauge(metricCatalogue.buildInfo).set(1, [version]);
  const config = await loadClusterConfig(options);
  const { clock, random } = environment;
  const namespace = options.namespace ?? config.ownNamespace ?? 'homeostat-system';
  const place = { config, clock, random, logger, metrics };
  const contest = createContest({
    ...{ ...place, flags: options, namespace },
    endNow: environment.endNow,
  });
  const readsConfigMaps = kinds.includes('configmaps');
  const { definitionsNamespace = namespace } = options;
  const teller = new FindingsTeller({ logger, output, printed: checked.diagnostics });
  const serving = {
    ...{ ...place, options, contest, namespace },
    check: recall,
    onFindings: (findings: readonly TextFindings[]) => teller.tell(findings),
    found: { definitions: checked.accepted.length, refused: definitionsIn(checked) },
    createSources: (cluster: KubeCluster) =>
      createSources({
        ...{ kinds, paths, texts, cluster, clock, logger },
        namespace: definitionsNamespace,
      }),
    definitionsNamespace: readsConfigMaps ? definitionsNamespace : undefined,
    // Else it is only where a runtime of the cluster would live. Who contends for its Lease is one of its replicas.
    ownsNamespace:
      (options.namespace ?? config.ownNamespace) !== undefined || options.leaderElect === true,
    readsDirectories: kinds.includes('directories'),
  };
  await serve(serving, signal);
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

function definitionsIn({ refused }: CheckResult): number {
  return refused.reduce((sum, { definitions }) => sum + definitions, 0);
}
