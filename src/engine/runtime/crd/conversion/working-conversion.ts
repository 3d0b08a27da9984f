import { type ConversionRules, readRules, writeRules } from '#conversion';
import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  conversionsAnnotation,
  provenConversionsAnnotation,
  workingConversionsAnnotation,
} from '#util/stored-names.ts';
import { addressOf, clientConfigOf, specOf } from './crd-parts.ts';
import { previousRules } from './previous-rules.ts';

/** Rules and a webhook by which conversions worked. */
export interface WorkingConversion {
  readonly rules: ConversionRules;
  /** `clientConfig` of the webhook, with the certificates of that time. */
  readonly clientConfig: JsonObject;
}

/** The annotation that keeps what works while something else is tried. A runtime that continues finds it there. Undefined: nothing works yet. Pure. */
export function workingAnnotation(live: KubeObject | undefined): string | undefined {
  if (live === undefined) return undefined;
  const { annotations = {} } = live.metadata;
  const [proven] = (annotations[provenConversionsAnnotation] ?? '').split(' ');
  const config = clientConfigOf(live);
  const stored = readRules(annotations[conversionsAnnotation] ?? '');
  if (config === undefined || stored === undefined || proven !== addressOf(live))
    return annotations[workingConversionsAnnotation];
  return canonicalJson({ digest: stored.current, clientConfig: config });
}

/** What that annotation keeps. Undefined: there is none, or its rules are no longer in the CRD. Pure. */
export function workingConversion(live: KubeObject | undefined): WorkingConversion | undefined {
  const text = workingAnnotation(live);
  const kept: unknown = text === undefined ? undefined : parsed(text);
  if (!isJsonObject(kept) || !isJsonObject(kept.clientConfig)) return undefined;
  const stored = readRules(live?.metadata.annotations?.[conversionsAnnotation] ?? '');
  const rules = stored?.byDigest.get(String(kept.digest));
  return rules && { rules, clientConfig: kept.clientConfig };
}

/** The CRD with the rules and the webhook that worked. The tried rules are kept: for a moment, API servers still ask for them. Pure. */
export function withWorking(
  crd: KubeObject,
  { rules, clientConfig: { caBundle: _, ...clientConfig } }: WorkingConversion,
): KubeObject {
  const { [workingConversionsAnnotation]: __, ...annotations } = crd.metadata.annotations ?? {};
  const written = writeRules(rules, previousRules(crd, rules));
  const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
  return {
    ...crd,
    metadata: {
      ...crd.metadata,
      annotations: { ...annotations, [conversionsAnnotation]: written },
    },
    spec: { ...specOf(crd), conversion: { strategy: 'Webhook', webhook } },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
