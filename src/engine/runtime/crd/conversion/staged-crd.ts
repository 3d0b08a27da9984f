import { type ConversionRules, digestOf, readRules, writeRules } from '#conversion';
import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';
import { conversionsAnnotation, provenConversionsAnnotation } from '#util/stored-names.ts';
import type { ConversionTarget } from './conversion-target.ts';

/**
 * The CRD with the rules of its versions and their webhook, and with the previous rules: for a moment, API servers still ask for these. Its
 * `caBundle` is written apart from it. Pure.
 */
export function withRules(
  crd: KubeObject,
  live: KubeObject | undefined,
  { rules, target }: { readonly rules: ConversionRules; readonly target: ConversionTarget },
): KubeObject {
  const digest = digestOf(rules);
  const stored = readRules(live?.metadata.annotations?.[conversionsAnnotation] ?? '');
  const others = [...(stored?.byDigest ?? [])].filter(([each]) => each !== digest);
  const previous = others.find(([each]) => each === stored?.current) ?? others[0];
  const written = writeRules(rules, previous === undefined ? [] : [previous[1]]);
  const clientConfig = target.clientConfig(crd.metadata.name, digest);
  const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
  const proven = live?.metadata.annotations?.[provenConversionsAnnotation];
  return {
    ...crd,
    metadata: {
      ...crd.metadata,
      annotations: {
        ...crd.metadata.annotations,
        [conversionsAnnotation]: written,
        ...(proven !== undefined && { [provenConversionsAnnotation]: proven }),
      },
    },
    spec: { ...specOf(crd), conversion: { strategy: 'Webhook', webhook } },
  };
}

/** The first step: the rules and the webhook. What is stored and served stays as it is. Pure. */
export function preparedCrd(whole: KubeObject, live: KubeObject | undefined): KubeObject {
  const stored = storedIn(live) ?? storedIn(whole);
  const served = servedIn(live);
  return withVersions(whole, (version) => ({
    ...version,
    storage: version.name === stored,
    served:
      version.served === true && (version.name === stored || served.includes(String(version.name))),
  }));
}

/** The second step: all versions are served, and resources are stored as before. Pure. */
export function openedCrd(whole: KubeObject, live: KubeObject | undefined): KubeObject {
  const stored = storedIn(live);
  if (stored === undefined || !namesOf(whole).includes(stored)) return whole;
  return withVersions(whole, (version) => ({ ...version, storage: version.name === stored }));
}

/** The last step: resources are stored as the definition wants it, and that its conversions work is recorded. Pure. */
export function provenCrd(whole: KubeObject): KubeObject {
  const annotations = {
    ...whole.metadata.annotations,
    [provenConversionsAnnotation]: [addressOf(whole), ...servedIn(whole).toSorted()].join(' '),
  };
  return { ...whole, metadata: { ...whole.metadata, annotations } };
}

/** Whether the conversions between all served versions are recorded to work. Pure. */
export function isProven(whole: KubeObject, live: KubeObject | undefined): boolean {
  const [address, ...versions] = provenOf(live);
  return (
    address === addressOf(whole) && servedIn(whole).every((version) => versions.includes(version))
  );
}

/** The CRD without the versions whose conversions have failed, unless they worked before or resources are stored in them. Pure. */
export function closedCrd(whole: KubeObject, live: KubeObject): KubeObject {
  const [, ...proven] = provenOf(live);
  const opened = openedCrd(whole, live);
  return withVersions(opened, (version) => ({
    ...version,
    served:
      version.served === true &&
      (version.storage === true || proven.includes(String(version.name))),
  }));
}

/** Whether resources are stored in another version than before, in which they are read already. Pure. */
export function movesStorage(crd: KubeObject, live: KubeObject | undefined): boolean {
  const stored = storedIn(crd);
  return stored !== undefined && stored !== storedIn(live) && servedIn(live).includes(stored);
}

/** The versions that are served, other than the stored one. Pure. */
export function convertedVersions(crd: KubeObject): readonly string[] {
  const stored = storedIn(crd);
  return servedIn(crd).filter((version) => version !== stored);
}

/** `clientConfig` of the webhook of a CRD. */
export function clientConfigOf({ spec }: KubeObject): JsonObject | undefined {
  const conversion = isJsonObject(spec) ? spec.conversion : undefined;
  const webhook = isJsonObject(conversion) ? conversion.webhook : undefined;
  const config = isJsonObject(webhook) ? webhook.clientConfig : undefined;
  return isJsonObject(config) ? config : undefined;
}

/** Identifies the rules, which are in the path, and the webhook; its certificates may change. */
function addressOf(crd: KubeObject): string {
  const { caBundle: _, ...config } = clientConfigOf(crd) ?? {};
  return sha256Hex(canonicalJson(config)).slice(0, 16);
}

function provenOf(crd: KubeObject | undefined): readonly string[] {
  return (crd?.metadata.annotations?.[provenConversionsAnnotation] ?? '').split(' ');
}

function withVersions(crd: KubeObject, change: (version: JsonObject) => JsonObject): KubeObject {
  return { ...crd, spec: { ...specOf(crd), versions: versionsOf(crd).map(change) } };
}

function versionsOf(crd: KubeObject | undefined): readonly JsonObject[] {
  const { versions } = crd === undefined ? {} : specOf(crd);
  return Array.isArray(versions) ? versions.filter(isJsonObject) : [];
}

function namesOf(crd: KubeObject | undefined): readonly unknown[] {
  return versionsOf(crd).map(({ name }) => name);
}

function servedIn(crd: KubeObject | undefined): readonly string[] {
  return versionsOf(crd).flatMap(({ name, served }) => (served === true ? [String(name)] : []));
}

function storedIn(crd: KubeObject | undefined): string | undefined {
  const stored = versionsOf(crd).find(({ storage }) => storage === true);
  return stored === undefined ? undefined : String(stored.name);
}

function specOf({ spec }: KubeObject): JsonObject {
  return isJsonObject(spec) ? spec : {};
}
