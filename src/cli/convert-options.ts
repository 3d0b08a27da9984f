import { InvalidArgumentError } from 'commander';
import type { LogLevel } from '#telemetry';
import type { KubeconfigFlags } from './kubeconfig-flags.ts';

/** The Service of an installation. */
export const defaultWebhookService = 'homeostat-conversion';

/** The flags of `homeostat convert`. */
export interface ConvertOptions extends KubeconfigFlags {
  /** Of the Service and the Secret. @default the namespace of the Pod, else `homeostat-system` */
  readonly namespace?: string;
  readonly webhookService: string;
  /** Outside of a cluster: `https://HOST:PORT`. @default the Service */
  readonly webhookUrl?: string;
  /** @default all addresses */
  readonly webhookHost?: string;
  readonly webhookPort: number;
  /** With `tls.crt` and `tls.key`. @default the Secret */
  readonly webhookCertDir?: string;
  /** In ms. @default 15 s in a Pod, else 0 */
  readonly shutdownDelay?: number;
  /** `host:port`, or `off`. */
  readonly http: string;
  readonly logLevel: LogLevel;
}

export function parseWebhookPort(text: string): number {
  const port = Number(text);
  if (text === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('Expected a number from 0 to 65535.');
  return port;
}

/** The origin of a webhook: what the API server accepts in `clientConfig.url`, without a path. */
export function parseWebhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url?.protocol === 'https:' && url.href === `${url.origin}/`;
  if (!isOrigin) throw new InvalidArgumentError('Expected a URL such as "https://10.0.0.5:9443".');
  return url.origin;
}
