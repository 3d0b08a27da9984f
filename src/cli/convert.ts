import { hostname } from 'node:os';
import { ConversionService, type WebhookAddress } from '#conversion-webhook';
import { conversionYaml } from '#definition';
import type { Check } from '#http';
import { createKubeCluster } from '#kube';
import { createMetricRegistry, metricCatalogue } from '#telemetry';
import { messageOf } from '#util/homeostat-error.ts';
import type { ConvertOptions } from './convert-options.ts';
import { CliError, exitCode } from './exit-code.ts';
import { startHealth } from './health.ts';
import { loadClusterConfig } from './kubeconfig-flags.ts';
import type { RunEnvironment } from './run-environment.ts';
import { defaultRuntimeNamespace } from './run-options.ts';
import { version } from './version.ts';

/** How long a Pod that ends is still an endpoint of its Service, at most. */
const podDelayMs = 15_000;
/** Clients of Kubernetes close a connection after 90 s without a request. */
const podIdleMs = 95_000;
/** Few requests: CRDs and one Secret. */
const connections = 4;
const suffix = { length: 5, alphabet: 'abcdefghijklmnopqrstuvwxyz0123456789' };
/** There is no definition here. */
const emptyView = {
  ...{ unreachable: undefined, isStopping: false },
  ...{ definitions: [], rejected: [], warnings: [] },
};

/**
 * `homeostat convert`: serves the conversion webhook until the signal aborts. It needs no definition and no lease: any number of processes
 * serve the same CRDs.
 * @returns the exit code
 * @throws CliError when it cannot start.
 */
export async function convert(
  options: ConvertOptions,
  environment: RunEnvironment,
  signal: AbortSignal,
): Promise<number> {
  const { clock, random } = environment;
  const logger = environment.createLogger(options.logLevel);
  const metrics = createMetricRegistry({ processMetrics: true });
  metrics.gauge(metricCatalogue.buildInfo).set(1, [version]);
  const config = await loadClusterConfig(options);
  const namespace = options.namespace ?? config.ownNamespace ?? defaultRuntimeNamespace;
  const shared = { clock, random, logger, metrics };
  const cluster = createKubeCluster({ ...shared, config, connections });
  const isInPod = config.ownNamespace !== undefined;
  const { shutdownDelay = isInPod ? podDelayMs : 0, webhookCertDir, webhookHost } = options;
  const service = new ConversionService({
    ...{ ...shared, cluster, port: options.webhookPort },
    ...(webhookHost !== undefined && { host: webhookHost }),
    address: addressOf(options, namespace),
    yaml: conversionYaml,
    certificates:
      webhookCertDir === undefined
        ? { kind: 'secret', namespace }
        : { kind: 'directory', directory: webhookCertDir },
    // Two processes of one host are two servers.
    server: `${hostname()}-${random.text(suffix.length, suffix.alphabet)}`,
    drain: { acceptMs: shutdownDelay, idleMs: shutdownDelay > 0 ? podIdleMs : 0 },
  });
  const health = await startHealth(options.http, {
    ...{ clock, metrics },
    view: () => emptyView,
    checks: () => checksOf(service, signal),
    observe: () => cluster.observe(),
  });
  try {
    logger.info({ http: health?.url }, 'Starting');
    environment.limitHeapGrowth();
    await service.run(signal);
  } catch (error) {
    throw listenError(error, options);
  } finally {
    await cluster.close();
    await health?.close();
  }
  logger.info({}, 'Stopped');
  return exitCode.ok;
}

function addressOf(
  { webhookUrl, webhookService }: ConvertOptions,
  namespace: string,
): WebhookAddress {
  if (webhookUrl !== undefined) return { kind: 'url', url: webhookUrl };
  // The port of the Service is in no certificate.
  return { kind: 'service', namespace, name: webhookService, port: 443 };
}

/** It serves what it knows also while the API server is unreachable: that makes it unready to no one. */
function checksOf({ state }: ConversionService, signal: AbortSignal): readonly Check[] {
  const { problem } = state;
  const stopping = signal.aborted ? 'the process is stopping' : undefined;
  return [
    { name: 'webhook', ...(problem !== undefined && { failure: problem }) },
    { name: 'shutdown', ...(stopping !== undefined && { failure: stopping }) },
  ];
}

function listenError(error: unknown, { webhookPort }: ConvertOptions): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== 'listen' && code !== 'EADDRINUSE') return error;
  return new CliError(`Cannot listen on port ${webhookPort}: ${messageOf(error)}`, {
    hint: 'Choose another port with --webhook-port, or an address with --webhook-host',
    cause: error,
  });
}
