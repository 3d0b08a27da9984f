import {
  ConversionService,
  caBundleOf,
  type WebhookAddress,
  webhookClientConfig,
} from '#conversion-webhook';
import { conversionYaml } from '#definition';
import type { KubeCluster } from '#kube';
import type { ConversionTarget } from '#runtime';
import type { Logger, MetricRegistry } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';
import { webhookSecretName } from '#util/stored-names.ts';
import type { ConversionFlags } from './conversion-flags.ts';

interface ConversionTargetOptions {
  readonly flags: ConversionFlags;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Namespace of the Secret with the certificates. */
  readonly namespace: string;
}

/**
 * Where the API server has objects converted: the converter of the cluster, or this process. Undefined: no flag names one. A module of its own:
 * a runtime without it does not load the certificates.
 */
export function createConversionTarget(
  options: ConversionTargetOptions,
  cluster: KubeCluster,
): ConversionTarget | undefined {
  const { flags, namespace, random } = options;
  const { webhookUrl, webhookService, webhookCertDir, webhookTrial: trialMs } = flags;
  const isExternal = webhookCertDir !== undefined || flags.webhookExternalCa === true;
  const address = addressOf(flags);
  if (address === undefined) return undefined;
  const service =
    webhookUrl &&
    new ConversionService({
      ...options,
      ...listening(webhookUrl),
      cluster,
      address,
      yaml: conversionYaml,
      certificates:
        webhookCertDir === undefined
          ? { kind: 'secret', namespace }
          : { kind: 'directory', directory: webhookCertDir },
      server: random.text(8, 'bcdfghjklmnpqrstvwxz2456789'),
    });
  return {
    clientConfig: (crd, digest) => ({ ...webhookClientConfig(address, crd, digest) }),
    ...(!isExternal && {
      authority: {
        namespace: webhookService?.namespace ?? namespace,
        secret: webhookSecretName,
        bundleOf: caBundleOf,
      },
    }),
    trialMs,
    ...(service && { run: (signal: AbortSignal) => service.run(signal) }),
  };
}

function addressOf({ webhookUrl, webhookService }: ConversionFlags): WebhookAddress | undefined {
  if (webhookUrl !== undefined) return { kind: 'url', url: webhookUrl };
  return webhookService && { kind: 'service', ...webhookService };
}

/** The port of the URL, on the address of the URL where that is one of this machine alone. */
function listening(text: string): { readonly port: number; readonly host?: string } {
  const { hostname, port } = new URL(text);
  const isLoopback =
    hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  return {
    port: port === '' ? 443 : Number(port),
    ...(isLoopback && { host: hostname === '[::1]' ? '::1' : hostname }),
  };
}
