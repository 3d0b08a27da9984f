import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';

/** `clientConfig` of the webhook of a CRD. */
export function clientConfigOf({ spec }: KubeObject): JsonObject | undefined {
  const conversion = isJsonObject(spec) ? spec.conversion : undefined;
  const webhook = isJsonObject(conversion) ? conversion.webhook : undefined;
  const config = isJsonObject(webhook) ? webhook.clientConfig : undefined;
  return isJsonObject(config) ? config : undefined;
}

/** Identifies the rules, which are in the path, and the webhook; its certificates may change. */
export function addressOf(crd: KubeObject): string {
  const { caBundle: _, ...config } = clientConfigOf(crd) ?? {};
  return sha256Hex(canonicalJson(config)).slice(0, 16);
}

export function specOf({ spec }: KubeObject): JsonObject {
  return isJsonObject(spec) ? spec : {};
}

export function versionsOf(crd: KubeObject | undefined): readonly JsonObject[] {
  const { versions } = crd === undefined ? {} : specOf(crd);
  return Array.isArray(versions) ? versions.filter(isJsonObject) : [];
}

/** The names of the versions that are served. */
export function servedIn(crd: KubeObject | undefined): readonly string[] {
  return versionsOf(crd).flatMap(({ name, served }) => (served === true ? [String(name)] : []));
}

/** With one of them, cert-manager writes `caBundle`. */
const injections = [
  'cert-manager.io/inject-ca-from',
  'cert-manager.io/inject-ca-from-secret',
  'cert-manager.io/inject-apiserver-ca',
];

/** Whether another program writes the certificates of the webhook into the CRD. */
export function isInjected({ metadata: { annotations = {} } }: KubeObject): boolean {
  return injections.some((each) => annotations[each] !== undefined);
}
