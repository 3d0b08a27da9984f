import type { ConversionRules } from '#conversion';
import type { Informer } from '#kube/roles.ts';
import type { BackoffOptions } from '#util/backoff.ts';
import { messageOf } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { CrdRejection } from '../check-change.ts';
import type { CrdContext } from '../crd-definition.ts';
import { whenEstablished } from '../wait-for-crd.ts';
import { writeCaBundle } from './ca-bundles.ts';
import { type ConversionTarget, noTarget } from './conversion-target.ts';
import { whyNotConvertible } from './convertible.ts';
import { issuedCertificates, whyUntrusted } from './crd-certificates.ts';
import { clientConfigOf } from './crd-parts.ts';
import {
  closedCrd,
  convertedVersions,
  isProven,
  movesStorage,
  openedCrd,
  preparedCrd,
  provenShape,
  triedCrd,
  withRules,
} from './staged-crd.ts';
import { whyNotStorable } from './storable.ts';
import { tryConversions } from './try-conversions.ts';
import {
  isAddressTried,
  isInTrial,
  replacesWorking,
  restoredBundle,
  workingConversion,
} from './working-conversion.ts';

export interface ConvertedInstall extends CrdContext {
  readonly conversion?: ConversionTarget | undefined;
  /** Namespace of the runtime, for a dry run. @default 'default' */
  readonly namespace?: string | undefined;
  readonly onStep?: (message: string) => void;
  readonly crds: Informer;
  /** Writes the CRD as this function changes it, where it differs from the live one. */
  readonly apply: (shape: Shape) => Promise<CrdRejection | undefined>;
  /** The same for a CRD that was installed before, with which stored resources work. */
  readonly restore: (shape: Shape) => Promise<CrdRejection | undefined>;
}

type Shape = (crd: KubeObject, live: KubeObject | undefined) => KubeObject;

const defaultTrialMs = 30_000;
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
  const { name } = definition.kind.crd.metadata;
  const liveCrd = () => crds.get(undefined, name)?.object;
  if (target === undefined) return rejected(options, noTarget, signal);
  const wholeFor: Shape = (crd, live) => withRules(crd, live, { rules, target });
  const final = provenShape(rules, target);
  const whyUnfit = async () => {
    if (!movesStorage(definition.kind.crd, liveCrd())) return undefined;
    onStep?.('Looking for resources that do not fit into the new storage version');
    return whyNotStorable(options, signal);
  };
  if (isProven(wholeFor(definition.kind.crd, liveCrd()), liveCrd())) {
    const unfit = await whyUnfit();
    return unfit === undefined ? apply(final) : rejection(unfit);
  }
  const live = liveCrd();
  onStep?.('Converting all resources by the new rules');
  const bad = live && (await whyNotConvertible(options, { rules, live }, signal));
  if (bad !== undefined) return rejected(options, `${unused}: ${bad}`, signal);
  onStep?.('Waiting for the certificates of the conversion webhook');
  const certificates = await issuedCertificates(options, target, signal);
  if (certificates.kind === 'missing')
    return replacesWorking(liveCrd())
      ? rejected(options, certificates.message, signal)
      : waiting(certificates.message, liveCrd());
  const obstacle = await apply((crd, live) => preparedCrd(wholeFor(crd, live), live));
  if (obstacle !== undefined) return obstacle;
  const { caBundle } = certificates;
  const untrusted = await whyUntrusted(options, target, { caBundle, signal });
  if (untrusted !== undefined) {
    if (!replacesWorking(liveCrd())) return rejection(untrusted);
    return { ...(await rejected(options, untrusted, signal)), delays: trialDelays };
  }
  const unopened = await apply((crd, live) => openedCrd(wholeFor(crd, live), live));
  if (unopened !== undefined) return unopened;
  const conflict = await whenEstablished(crds, name, signal);
  if (conflict !== undefined) return rejection(conflict);
  onStep?.('Trying the conversions between its versions');
  const problem = await tryAll(options, target, signal).catch((error: unknown) => {
    if (signal.aborted || !replacesWorking(liveCrd())) throw error;
    // A webhook that never answers looks like an API server that does not. If that is the case, the next request fails, too.
    return messageOf(error);
  });
  if (problem === undefined) {
    const unfit = await whyUnfit();
    if (unfit === undefined) return apply(final);
    // The conversions work: they are not tried again until the storage version may change.
    const unrecorded = await apply((crd, live) => triedCrd(wholeFor(crd, live), live));
    return unrecorded ?? rejection(unfit);
  }
  const closed = await closeConverted(options, signal);
  cluster.kindCreated(definition.kind.gvk);
  return {
    ...rejection(`${closed}, because conversions fail: ${problem}`),
    delays: trialDelays,
  };
}

/** Each attempt changes the CRD, and may show failures of a webhook to clients of versions that are served. */
const trialDelays: BackoffOptions = { baseDelayMs: 5_000, maxDelayMs: 600_000 };
const unused = 'The conversion rules are not used';
const unserved = 'New versions are not served';
const kept = 'The previous conversion rules and webhook are used again';
const unrestored = ' (changed schemas stay: they are too large to be recorded)';

const inUse =
  'Until then, the conversion rules and the webhook that are in the CustomResourceDefinition stay in use';

/** Nothing can be tried. What another process has tried is undone: its webhook may not be there any more. */
async function rejected(
  options: ConvertedInstall,
  why: string,
  signal: AbortSignal,
): Promise<CrdRejection> {
  const { crds, definition } = options;
  const liveCrd = () => crds.get(undefined, definition.kind.crd.metadata.name)?.object;
  const before = liveCrd();
  if (before !== undefined && isInTrial(before)) await closeConverted(options, signal);
  return waiting(why, liveCrd());
}

/** The message follows from the live CRD, so that it stays the same. */
function waiting(why: string, live: KubeObject | undefined): CrdRejection {
  return rejection(live !== undefined && isAddressTried(live) ? `${why}. ${inUse}` : why);
}

/**
 * Removes what failed: new versions are not served, and rules, webhook and schemas are those that worked.
 * @returns what was done
 */
async function closeConverted(
  { crds, definition, restore, cluster }: ConvertedInstall,
  signal: AbortSignal,
): Promise<string> {
  const { name } = definition.kind.crd.metadata;
  const before = crds.get(undefined, name)?.object;
  const working = before && isInTrial(before) ? workingConversion(before) : undefined;
  const done = replacesWorking(before) ? kept : unserved;
  const caBundle = before && working && restoredBundle(before, working);
  await restore((crd, live) => (live === undefined ? crd : closedCrd(crd, live)));
  const live = crds.get(undefined, name)?.object;
  if (live !== undefined && caBundle !== undefined && clientConfigOf(live)?.caBundle !== caBundle)
    await writeCaBundle(cluster, { crd: live, caBundle }, signal);
  return working !== undefined && working.spec === undefined ? `${done}${unrestored}` : done;
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

function rejection(message: string): CrdRejection {
  return { message, diagnostics: [] };
}
