import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** How the API server reaches the webhook. */
export type WebhookAddress =
  /** In a cluster. */
  | {
      readonly kind: 'service';
      readonly namespace: string;
      readonly name: string;
      /** The port of the Service. */
      readonly port: number;
    }
  /** Elsewhere: `https://127.0.0.1:9443`, with no path. */
  | { readonly kind: 'url'; readonly url: string };

/** `clientConfig` of a CustomResourceDefinition, without its `caBundle`. */
export type WebhookClientConfig =
  | {
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        readonly port: number;
        readonly path: string;
      };
    }
  | { readonly url: string };

/**
 * Where the API server sends objects of a kind. The digest is that of the rules: with other rules there is another path, so that the API
 * server makes its caches anew.
 */
export function webhookClientConfig(
  address: WebhookAddress,
  crd: string,
  digest: string,
): WebhookClientConfig {
  const path = conversionPath(crd, digest);
  if (address.kind === 'url') return { url: new URL(path, address.url).href };
  const { namespace, name, port } = address;
  return { service: { namespace, name, port, path } };
}

/** `/convert/<name of the CRD>/<digest of the rules>` */
export function conversionPath(crd: string, digest: string): string {
  return `/convert/${crd}/${digest}`;
}

/** The parts of a path. Undefined: it is another one. */
export function parseConversionPath(
  url: string,
): { readonly crd: string; readonly digest: string } | undefined {
  const found = /^\/convert\/(?<crd>[a-z0-9.-]{1,253})\/(?<digest>[0-9a-f]{1,64})\/?(?:\?|$)/.exec(
    url,
  );
  const { crd, digest } = found?.groups ?? {};
  return crd === undefined || digest === undefined ? undefined : { crd, digest };
}

/** The DNS names and IP addresses that a certificate of the webhook needs. */
export function webhookNames(address: WebhookAddress): readonly string[] {
  if (address.kind === 'url') return [new URL(address.url).hostname.replace(/^\[|\]$/g, '')];
  const { namespace, name } = address;
  // The API server verifies the first one; people use the second one.
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}

/** `caBundle` of a CRD that the API server sends to this webhook. Undefined: it is sent elsewhere, or nowhere. */
export function bundleOfCrd(crd: KubeObject, address: WebhookAddress): string | undefined {
  const conversion = isJsonObject(crd.spec) ? crd.spec.conversion : undefined;
  if (!isJsonObject(conversion) || conversion.strategy !== 'Webhook') return undefined;
  const config = isJsonObject(conversion.webhook) ? conversion.webhook.clientConfig : undefined;
  if (!isJsonObject(config) || !leadsTo(config, address)) return undefined;
  return typeof config.caBundle === 'string' ? config.caBundle : '';
}

function leadsTo(config: Readonly<Record<string, unknown>>, address: WebhookAddress): boolean {
  if (address.kind === 'url')
    return (
      typeof config.url === 'string' &&
      URL.canParse(config.url) &&
      new URL(config.url).host === new URL(address.url).host
    );
  const { service } = config;
  if (!isJsonObject(service)) return false;
  return service.namespace === address.namespace && service.name === address.name;
}
