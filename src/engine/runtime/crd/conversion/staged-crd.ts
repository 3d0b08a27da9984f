import { type ConversionRules, digestOf, writeRules } from '#conversion';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  conversionsAnnotation,
  provenConversionsAnnotation,
  workingConversionsAnnotation,
} from '#util/stored-names.ts';
import type { ConversionTarget } from './conversion-target.ts';
import { addressOf, servedIn, specOf, versionsOf } from './crd-parts.ts';
import { previousRules } from './previous-rules.ts';
import {
  isInTrial,
  provenIn,
  restoredCrd,
  workingAnnotation,
  workingConversion,
} from './working-conversion.ts';

/**
 * The CRD with the rules of its versions and their webhook, and with the previous rules: for a moment, API servers still ask for these, and
 * those that worked return if these fail. Its `caBundle` is written apart from it. Pure.
 */
export function withRules(
  crd: KubeObject,
  live: KubeObject | undefined,
  { rules, target }: { readonly rules: ConversionRules; readonly target: ConversionTarget },
): KubeObject {
  const digest = digestOf(rules);
  const working = workingAnnotation(live);
  const written = writeRules(rules, previousRules(live, rules, workingConversion(live)?.rules));
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
        ...(working !== undefined && { [workingConversionsAnnotation]: working }),
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
      served.includes(String(version.name)) || (version.served === true && version.name === stored),
  }));
}

/** The second step: all versions are served, also those that the last step closes, and resources are stored as before. Pure. */
export function openedCrd(whole: KubeObject, live: KubeObject | undefined): KubeObject {
  const stored = storedIn(live);
  if (stored === undefined || !namesOf(whole).includes(stored)) return whole;
  const served = servedIn(live);
  return withVersions(whole, (version) => ({
    ...version,
    storage: version.name === stored,
    served: version.served === true || served.includes(String(version.name)),
  }));
}

/** The last step: resources are stored as the definition wants it, and that its conversions work is recorded. Pure. */
export function provenCrd(whole: KubeObject): KubeObject {
  return withRecord(whole, servedIn(whole));
}

/** As after the second step, and that the conversions work is recorded: resources cannot be stored as the definition wants it yet. Pure. */
export function triedCrd(whole: KubeObject, live: KubeObject | undefined): KubeObject {
  const opened = openedCrd(whole, live);
  const proven = [...servedIn(whole), ...(live === undefined ? [] : provenIn(live))];
  // One that the last step closes was not tried now.
  return withRecord(
    opened,
    servedIn(opened).filter((version) => proven.includes(version)),
  );
}

/** Nothing is tried any more: what works is what the CRD has. */
function withRecord(crd: KubeObject, versions: readonly string[]): KubeObject {
  const { [workingConversionsAnnotation]: _, ...others } = crd.metadata.annotations ?? {};
  const record = [addressOf(crd), ...versions.toSorted()].join(' ');
  const annotations = { ...others, [provenConversionsAnnotation]: record };
  return { ...crd, metadata: { ...crd.metadata, annotations } };
}

/** The CRD as it is in the end. Pure. */
export function provenShape(rules: ConversionRules, target: ConversionTarget) {
  return (crd: KubeObject, live: KubeObject | undefined) =>
    provenCrd(withRules(crd, live, { rules, target }));
}

/** Whether the conversions between all served versions are recorded to work. Pure. */
export function isProven(whole: KubeObject, live: KubeObject | undefined): boolean {
  const [address, ...versions] = provenOf(live);
  return (
    address === addressOf(whole) && servedIn(whole).every((version) => versions.includes(version))
  );
}

/**
 * The live CRD without what has failed: as it was before the trial, where that is recorded, else without versions whose conversions did not work.
 * Needs no webhook. Pure.
 * @param crd the CRD of the definition, of which the labels and annotations are used
 */
export function closedCrd(crd: KubeObject, live: KubeObject): KubeObject {
  const [, ...proven] = provenOf(live);
  const working = isInTrial(live) ? workingConversion(live) : undefined;
  const restored = restoredCrd(crd, live, working ?? {});
  if (working?.spec !== undefined) return restored;
  return withVersions(restored, (version) => ({
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

/** The versions that are served and stay so, other than the stored one. One that is closed must not keep others from being opened. Pure. */
export function convertedVersions(crd: KubeObject, live: KubeObject): readonly string[] {
  const stored = storedIn(live);
  const served = servedIn(live);
  return servedIn(crd).filter((version) => version !== stored && served.includes(version));
}

function provenOf(crd: KubeObject | undefined): readonly string[] {
  return (crd?.metadata.annotations?.[provenConversionsAnnotation] ?? '').split(' ');
}

function withVersions(crd: KubeObject, change: (version: JsonObject) => JsonObject): KubeObject {
  return { ...crd, spec: { ...specOf(crd), versions: versionsOf(crd).map(change) } };
}

function namesOf(crd: KubeObject | undefined): readonly unknown[] {
  return versionsOf(crd).map(({ name }) => name);
}

function storedIn(crd: KubeObject | undefined): string | undefined {
  const stored = versionsOf(crd).find(({ storage }) => storage === true);
  return stored === undefined ? undefined : String(stored.name);
}
