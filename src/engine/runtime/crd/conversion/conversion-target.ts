import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { clientConfigOf } from './crd-parts.ts';

/** Where the API server sends objects to be converted, for all kinds of a runtime. */
export interface ConversionTarget {
  /** `clientConfig` of a CRD for the rules with this digest, without its `caBundle`. */
  readonly clientConfig: (crd: string, digest: string) => JsonObject;
  /** Who signs its certificates. @default undefined: another program writes `caBundle`, or none is needed */
  readonly authority?: CertificateAuthority;
  /** Serves the webhook in this process, until the signal aborts. @default another process serves it */
  readonly run?: (signal: AbortSignal) => Promise<void>;
  /** How long conversions must succeed before a version is kept, in ms. @default 30_000 */
  readonly trialMs?: number;
}

/** The Secret with the certificates that an API server trusts. */
export interface CertificateAuthority {
  readonly namespace: string;
  readonly secret: string;
  /** Its certificates in PEM. Undefined: there are none that could be used. */
  readonly bundleOf: (secret: KubeObject) => string | undefined;
}

/** For the sandbox, which converts by the rules itself: nothing listens at this address. */
export const simulatedConversion: ConversionTarget = {
  clientConfig: (crd, digest) => ({ url: `https://conversion.invalid/convert/${crd}/${digest}` }),
  trialMs: 0,
};

/** The webhook that a CRD has already, for a plan, which does not know that of the runtime. Pure. */
export function targetOf(live: KubeObject | undefined): ConversionTarget {
  const { url, service } = (live && clientConfigOf(live)) ?? {};
  return {
    clientConfig: (crd, digest) => {
      const path = `/convert/${crd}/${digest}`;
      if (typeof url === 'string') return { url: new URL(path, url).href };
      return { service: { ...(isJsonObject(service) ? service : plannedService), path } };
    },
  };
}

const plannedService = { namespace: 'homeostat-system', name: 'homeostat-conversion', port: 443 };

/** How the webhook of a runtime is chosen, for messages. */
export const noTarget =
  'A definition with "conversions" needs a conversion webhook: start the runtime with "--webhook-url", or in a cluster with "--webhook-service"';
