import { type ConversionRules, readRules, writeRules } from '#conversion';
import { canonicalJson } from '#util/canonical-json.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  conversionsAnnotation,
  provenConversionsAnnotation,
  workingConversionsAnnotation,
} from '#util/stored-names.ts';
import { addressOf, clientConfigOf, servedIn, specOf, versionsOf } from './crd-parts.ts';
import { previousRules } from './previous-rules.ts';

/** The CRD before rules, a webhook or a version that are tried now. */
export interface WorkingConversion {
  /** `spec.conversion` of that time, with the certificates. Undefined: there was nothing to convert, or it did not work. */
  readonly conversion?: JsonObject;
  /** The rules of that webhook. Undefined: it is another one. */
  readonly rules?: ConversionRules;
  /** The rest of `spec`. Undefined: it is too large to be recorded. */
  readonly spec?: JsonObject;
}

/** Maximum length of that rest; the annotations of an object have 256 KiB. */
const maxSpecLength = 96 * 1024;

/** The annotation that keeps what works while something else is tried. A runtime that continues finds it there. Undefined: there is no CRD. Pure. */
export function workingAnnotation(live: KubeObject | undefined): string | undefined {
  if (live === undefined) return undefined;
  const { annotations = {} } = live.metadata;
  // While something is tried, the live CRD is not what works.
  const kept = annotations[workingConversionsAnnotation];
  if (kept !== undefined) return kept;
  const { conversion, ...spec } = specOf(live);
  const stored = readRules(annotations[conversionsAnnotation] ?? '');
  const isTried = isAddressTried(live);
  const isOfOther = stored === undefined && clientConfigOf(live) !== undefined;
  const isByName = clientConfigOf(live) === undefined && servedIn(live).length > 1;
  const isLarge = canonicalJson(spec).length > maxSpecLength;
  return canonicalJson({
    ...((isTried || isOfOther || isByName) && isJsonObject(conversion) && { conversion }),
    ...(isTried && stored !== undefined && { digest: stored.current }),
    ...(!isLarge && { spec }),
  });
}

/** What that annotation keeps. Undefined: there is none. Pure. */
export function workingConversion(live: KubeObject | undefined): WorkingConversion | undefined {
  const text = workingAnnotation(live);
  const kept: unknown = text === undefined ? undefined : parsed(text);
  if (!isJsonObject(kept)) return undefined;
  const { conversion, digest, spec } = kept;
  const stored = readRules(live?.metadata.annotations?.[conversionsAnnotation] ?? '');
  const rules = stored?.byDigest.get(String(digest));
  const isUsable = digest === undefined || rules !== undefined;
  return {
    ...(isUsable && isJsonObject(conversion) && { conversion }),
    ...(rules !== undefined && { rules }),
    ...(isJsonObject(spec) && { spec }),
  };
}

/** Whether something is tried in this CRD that a failure would undo. Pure. */
export function isInTrial({ metadata: { annotations } }: KubeObject): boolean {
  return annotations?.[workingConversionsAnnotation] !== undefined;
}

/** Whether other rules or another webhook than those that worked are in the CRD. Pure. */
export function replacesWorking(live: KubeObject | undefined): boolean {
  const conversion = workingConversion(live)?.conversion;
  return (
    live !== undefined &&
    conversion !== undefined &&
    addressOf({ ...live, spec: { conversion } }) !== addressOf(live)
  );
}

/** Whether conversions by the rules and the webhook of this CRD are recorded to work. Pure. */
export function isAddressTried(live: KubeObject): boolean {
  return recordOf(live)[0] === addressOf(live);
}

/** The versions whose conversions by the rules and the webhook of this CRD are recorded to work. Pure. */
export function provenIn(live: KubeObject): readonly string[] {
  return isAddressTried(live) ? recordOf(live).slice(1) : [];
}

/** The versions whose conversions worked before other rules or another webhook, which are tried now. Pure. */
export function provenBefore(live: KubeObject): readonly string[] {
  const conversion = isInTrial(live) ? workingConversion(live)?.conversion : undefined;
  return conversion === undefined ? [] : provenIn({ ...live, spec: { conversion } });
}

/** The address, then versions. */
function recordOf({ metadata: { annotations } }: KubeObject): readonly string[] {
  return (annotations?.[provenConversionsAnnotation] ?? '').split(' ');
}

/**
 * The live CRD as it was before the trial: its rules and webhook, its schemas, and what it served. New versions stay in it and are not served:
 * entries of field managers may name them.
 * @param crd the CRD of the definition, of which the labels and annotations are used
 */
export function restoredCrd(
  crd: KubeObject,
  live: KubeObject,
  { conversion: worked, rules, spec = specOf(live) }: WorkingConversion,
): KubeObject {
  const { [conversionsAnnotation]: written, [provenConversionsAnnotation]: proven } =
    live.metadata.annotations ?? {};
  const text = rules === undefined ? written : writeRules(rules, previousRules(live, rules));
  const annotations = {
    ...crd.metadata.annotations,
    ...(text !== undefined && { [conversionsAnnotation]: text }),
    ...(proven !== undefined && { [provenConversionsAnnotation]: proven }),
  };
  const known = versionsOf({ ...live, spec }).map(({ name }) => name);
  const others = versionsOf(live).filter(({ name }) => !known.includes(name));
  const versions = [
    ...versionsOf({ ...live, spec }),
    ...others.map((version) => ({ ...version, served: false, storage: false })),
  ];
  const { conversion: tried } = specOf(live);
  const conversion = withoutBundle(worked ?? tried);
  return {
    ...crd,
    metadata: { ...crd.metadata, annotations },
    spec: { ...spec, versions, ...(conversion !== undefined && { conversion }) },
  };
}

/** The certificates that a webhook needs that worked, if it is not the server of the live CRD, whose certificates may be newer. Pure. */
export function restoredBundle(
  live: KubeObject,
  { conversion }: WorkingConversion,
): string | undefined {
  const config = clientConfigOf({ ...live, spec: { ...(conversion && { conversion }) } });
  const current = clientConfigOf(live);
  if (config === undefined || isSameServer(config, current ?? {})) return undefined;
  return typeof config.caBundle === 'string' ? config.caBundle : undefined;
}

/** Whether two webhooks are one server, at whatever path. Pure. */
export function isSameServer(one: JsonObject, other: JsonObject): boolean {
  return deepEqual(serverOf(one), serverOf(other));
}

function serverOf({ url, service }: JsonObject): unknown {
  if (typeof url === 'string') return URL.canParse(url) ? new URL(url).origin : url;
  const { path: _, ...server } = isJsonObject(service) ? service : {};
  return server;
}

/** Others write it. */
function withoutBundle(conversion: unknown): JsonObject | undefined {
  if (!isJsonObject(conversion)) return undefined;
  const { webhook } = conversion;
  if (!isJsonObject(webhook) || !isJsonObject(webhook.clientConfig)) return conversion;
  const { caBundle: _, ...clientConfig } = webhook.clientConfig;
  return { ...conversion, webhook: { ...webhook, clientConfig } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
