import { type ConversionRules, digestOf } from '#conversion';
import type { Informer } from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { CrdRejection } from '../check-change.ts';
import type { CrdContext } from '../crd-definition.ts';
import { whenEstablished } from '../wait-for-crd.ts';
import { writeCaBundle } from './ca-bundles.ts';
import { type ConversionTarget, noTarget } from './conversion-target.ts';
import { clientConfigOf } from './crd-parts.ts';
import {
  closedCrd,
  convertedVersions,
  isProven,
  movesStorage,
  openedCrd,
  preparedCrd,
  provenCrd,
  replacesWorking,
  withRules,
} from './staged-crd.ts';
import { whyNotStorable } from './storable.ts';
import { tryConversions } from './try-conversions.ts';
import { workingConversion } from './working-conversion.ts';

export interface ConvertedInstall extends CrdContext {
  readonly conversion?: ConversionTarget | undefined;
  /** Namespace of the runtime, for a dry run. @default 'default' */
  readonly namespace?: string | undefined;
  readonly onStep?: (message: string) => void;
  readonly crds: Informer;
  /** Writes the CRD as this function changes it, where it differs from the live one. */
  readonly apply: (
    shape: (crd: KubeObject, live: KubeObject | undefined) => KubeObject,
  ) => Promise<CrdRejection | undefined>;
}

const defaultTrialMs = 30_000;
/** How long a CRD waits for the certificates of its webhook before this is reported. */
const bundleMs = 10_000;
const pollMs = 100;

/**
 * Installs a CRD whose versions differ, in steps: its rules and webhook; then new versions are served, and must be converted for some time;
 * only then the storage version may change. Each step follows from the live CRD, so that another process continues with it.
 * @returns why it cannot be installed: then new versions are not served
 * @throws KubeError when a request fails.
 */
export async function installConverted(
  options: ConvertedInstall,
  rules: ConversionRules,
  signal: AbortSignal,
): Promise<CrdRejection | undefined> {
  const { conversion: target, crds, definition, apply, onStep, cluster } = options;
  if (target === undefined) return rejection(noTarget);
  const { name } = definition.kind.crd.metadata;
  const liveCrd = () => crds.get(undefined, name)?.object;
  const wholeFor = (crd: KubeObject, live: KubeObject | undefined) =>
    withRules(crd, live, { rules, target });
  const final = provenShape(rules, target);
  const finish = async () => {
    const unfit = movesStorage(definition.kind.crd, liveCrd())
      ? await whyNotStorable(options, signal)
      : undefined;
    return unfit === undefined ? apply(final) : rejection(unfit);
  };
  if (isProven(wholeFor(definition.kind.crd, liveCrd()), liveCrd())) return finish();
  const obstacle = await apply((crd, live) => preparedCrd(wholeFor(crd, live), live));
  if (obstacle !== undefined) return obstacle;
  onStep?.('Waiting for the certificates of the conversion webhook');
  const close = () => closeConverted(options, { target, wholeFor }, signal);
  const withoutBundle = async () => {
    if (!replacesWorking(liveCrd())) return rejection(noBundle(target));
    await close();
    return rejection(`${kept}. ${noBundle(target)}`);
  };
  if (!(await hasBundle(options, target, signal))) return withoutBundle();
  const unopened = await apply((crd, live) => openedCrd(wholeFor(crd, live), live));
  if (unopened !== undefined) return unopened;
  const conflict = await whenEstablished(crds, name, signal);
  if (conflict !== undefined) return rejection(conflict);
  onStep?.('Trying the conversions between its versions');
  const problem = await tryAll(options, target, signal).catch(async (error: unknown) => {
    // A webhook that never answers may look like an API server that does not.
    if (!signal.aborted && replacesWorking(liveCrd())) await close();
    throw error;
  });
  if (problem === undefined) return finish();
  const isReplaced = replacesWorking(liveCrd());
  await close();
  cluster.kindCreated(definition.kind.gvk);
  return rejection(`${isReplaced ? kept : unserved}, because conversions fail: ${problem}`);
}

const unserved = 'New versions are not served';
const kept = 'The previous conversion rules and webhook are used again';

/** Removes what failed: new versions, or other rules or another webhook than those that worked. */
async function closeConverted(
  { crds, definition, apply, cluster }: ConvertedInstall,
  {
    target,
    wholeFor,
  }: {
    readonly target: ConversionTarget;
    readonly wholeFor: (crd: KubeObject, live: KubeObject | undefined) => KubeObject;
  },
  signal: AbortSignal,
): Promise<void> {
  const { name } = definition.kind.crd.metadata;
  const working = workingConversion(crds.get(undefined, name)?.object);
  await apply((crd, live) => {
    const changed = wholeFor(crd, live);
    return live === undefined ? changed : closedCrd(changed, live);
  });
  if (working === undefined) return;
  const { caBundle, ...config } = working.clientConfig;
  // At the same address, the certificates may be newer than those that worked.
  if (deepEqual(config, target.clientConfig(name, digestOf(working.rules)))) return;
  const live = crds.get(undefined, name)?.object;
  if (live === undefined || typeof caBundle !== 'string') return;
  if (clientConfigOf(live)?.caBundle !== caBundle)
    await writeCaBundle(cluster, { crd: live, caBundle }, signal);
}

/** The CRD as it is in the end. */
export function provenShape(rules: ConversionRules, target: ConversionTarget) {
  return (crd: KubeObject, live: KubeObject | undefined) =>
    provenCrd(withRules(crd, live, { rules, target }));
}

async function tryAll(
  options: ConvertedInstall,
  { trialMs = defaultTrialMs }: ConversionTarget,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { crds, definition, cluster, clock } = options;
  const { gvk, crd } = definition.kind;
  const live = crds.get(undefined, crd.metadata.name)?.object;
  const kinds = (live === undefined ? [] : convertedVersions(crd, live)).map((version) => ({
    ...gvk,
    version,
  }));
  cluster.kindCreated(gvk);
  for (const kind of kinds) {
    // Discovery follows the CRD with a delay.
    while ((await cluster.lookUp(kind, signal)) === undefined) {
      await clock.sleep(pollMs, signal);
      cluster.kindCreated(gvk);
    }
  }
  return tryConversions(options, { kinds, forMs: trialMs }, signal);
}

/** Whether the live CRD has certificates, where they are needed. Others write them. */
async function hasBundle(
  { crds, definition, clock }: ConvertedInstall,
  { authority }: ConversionTarget,
  signal: AbortSignal,
): Promise<boolean> {
  if (authority === undefined) return true;
  const { name } = definition.kind.crd.metadata;
  const deadlineMs = clock.monotonicMs() + bundleMs;
  for (;;) {
    const live = crds.get(undefined, name)?.object;
    const { caBundle } = (live && clientConfigOf(live)) ?? {};
    if (typeof caBundle === 'string' && caBundle !== '') return true;
    if (clock.monotonicMs() >= deadlineMs) return false;
    await clock.sleep(pollMs, signal);
  }
}

function noBundle({ authority }: ConversionTarget): string {
  return `The conversion webhook has no certificates yet: Secret "${authority?.secret}" in namespace "${authority?.namespace}"`;
}

function rejection(message: string): CrdRejection {
  return { message, diagnostics: [] };
}
