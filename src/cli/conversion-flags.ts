import { type Command, InvalidArgumentError } from 'commander';
import type { KubeCluster } from '#kube';
import type { createConversionTarget } from './conversion-target.ts';
import { CliError } from './exit-code.ts';
import { durationOption } from './source-flags.ts';

/** Where the API server has objects converted, for definitions with `conversions`. */
export interface ConversionFlags {
  /** `https://host:port` at which the API server reaches this process. */
  readonly webhookUrl?: string;
  /** The Service of the converter in the cluster. */
  readonly webhookService?: ServicePort;
  /** With `tls.crt` and `tls.key`, for the URL. @default certificates are issued, in a Secret */
  readonly webhookCertDir?: string;
  /** Another program writes `caBundle` for the Service. @default the Secret of its certificates is read */
  readonly webhookExternalCa?: boolean;
  /** How long conversions must succeed before a new version is kept, in ms. */
  readonly webhookTrial: number;
}

interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Adds the flags of the conversion webhook. */
export function addConversionFlags(command: Command): Command {
  return command
    .option(
      '--webhook-url <url>',
      'convert objects between versions of a kind in this process, which the API server reaches at https://host:port',
      parseWebhookUrl,
    )
    .option(
      '--webhook-service <namespace/name:port>',
      'Service of "homeostat convert", which converts objects between versions of a kind',
      parseServicePort,
    )
    .option(
      '--webhook-cert-dir <directory>',
      'with --webhook-url: directory with tls.crt and tls.key of another program, which also writes "caBundle" into CustomResourceDefinitions, where the API server does not trust them already; reloaded when they change (default: certificates are issued and kept in a Secret)',
    )
    .option(
      '--webhook-external-ca',
      'with --webhook-service: another program, such as cert-manager, writes "caBundle" into CustomResourceDefinitions (default: the runtime does, from the Secret of the service)',
    )
    .addOption(
      durationOption(
        '--webhook-trial <time>',
        'how long conversions must succeed before a new version of a kind is kept',
        30_000,
      ),
    );
}

/** @throws CliError for flags that exclude or need each other */
export function checkConversionFlags(flags: ConversionFlags): void {
  const { webhookUrl, webhookService, webhookCertDir, webhookExternalCa } = flags;
  if (webhookUrl !== undefined && webhookService !== undefined)
    throw new CliError('Expected one of --webhook-url and --webhook-service, found both');
  if (webhookCertDir !== undefined && webhookUrl === undefined)
    throw new CliError('Expected --webhook-url with --webhook-cert-dir, found none', {
      hint: '"homeostat convert" serves the webhook of --webhook-service, and has --webhook-cert-dir, too',
    });
  if (webhookExternalCa === true && webhookService === undefined)
    throw new CliError('Expected --webhook-service with --webhook-external-ca, found none', {
      hint: 'With --webhook-url, --webhook-cert-dir names the certificates of another program',
    });
}

/** @throws CliError for flags without an effect in the sandbox, which converts by the rules itself */
export function checkNoConversionFlags(flags: ConversionFlags): void {
  const { webhookUrl, webhookService, webhookCertDir, webhookExternalCa } = flags;
  if ((webhookUrl ?? webhookService ?? webhookCertDir ?? webhookExternalCa) === undefined) return;
  throw new CliError(
    'Expected --kubeconfig or --context with the flags of the conversion webhook',
    {
      hint: 'The sandbox converts without a webhook: leave them out',
    },
  );
}

/** The conversion webhook that the flags name, for a cluster. Undefined: they name none. */
export async function loadConversion({
  flags,
  ...shared
}: Parameters<typeof createConversionTarget>[0]) {
  if (flags.webhookUrl === undefined && flags.webhookService === undefined) return undefined;
  const { createConversionTarget } = await import('./conversion-target.ts');
  return (cluster: KubeCluster) => createConversionTarget({ ...shared, flags }, cluster);
}

/** @throws InvalidArgumentError */
export function parseWebhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.pathname === '/' && url.search === '' && url.username === '';
  if (url?.protocol === 'https:' && isPlain) return url.origin;
  throw new InvalidArgumentError('Expected "https://host:port".');
}

/** @throws InvalidArgumentError */
export function parseServicePort(text: string): ServicePort {
  const { namespace, name, port } =
    /^(?<namespace>[a-z0-9-]+)\/(?<name>[a-z0-9-]+)(?::(?<port>\d{1,5}))?$/.exec(text)?.groups ??
    {};
  if (namespace !== undefined && name !== undefined)
    return { namespace, name, port: port === undefined ? 443 : Number(port) };
  throw new InvalidArgumentError('Expected "namespace/name" or "namespace/name:port".');
}
