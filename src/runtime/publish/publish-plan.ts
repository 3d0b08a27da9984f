import type { KubeObject } from '../../util/kube-object.ts';
import { type DefinitionOrigin, isSameOrigin, originText } from '../desired-definition.ts';
import { sourceRefAnnotation } from '../objects/names.ts';
import type { NamedDocument, ParsedManifest } from './parsed-manifest.ts';
import { originOfPublished, runtimeOf, withdrawnAtMs } from './publication.ts';

/**
 * State of an origin (a ConfigMap or a directory). `read`: all its names are known; `unknown`: it may contain names that cannot be read;
 * `elsewhere`: this runtime does not read it.
 */
export type OriginState = 'read' | 'unknown' | 'elsewhere';

/** A manifest's claim to a definition name. */
export interface NameClaim {
  readonly document: NamedDocument;
  readonly parsed: ParsedManifest;
}

export function originOf({ parsed: reading }: NameClaim): DefinitionOrigin {
  return reading.manifest.origin;
}

/** The publisher's next step for one name. */
export type PublishStep =
  | { readonly kind: 'none' }
  /** Publish the document of the claim. */
  | { readonly kind: 'publish'; readonly claim: NameClaim }
  /** The document of the claim has errors: write them on the object, and create it if it does not exist. */
  | { readonly kind: 'reject'; readonly claim: NameClaim }
  /** The manifest was removed: write the time on the object. */
  | { readonly kind: 'withdraw' }
  /** Stay withdrawn for this time. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** Delete the object after the delay. */
  | { readonly kind: 'delete' };

/** A rejected claim with the reason, for an Event on its origin. */
export interface RejectedClaim {
  readonly claim: NameClaim;
  readonly reason: 'user' | 'runtime' | 'manifest';
  /** The owner of the name: a manifest or a runtime. */
  readonly owner: string;
}

interface PublishPlan {
  readonly step: PublishStep;
  readonly rejected: readonly RejectedClaim[];
}

export interface PlanOptions {
  /** The live object. Undefined: none. */
  readonly live: KubeObject | undefined;
  readonly claims: readonly NameClaim[];
  /** Name of this runtime. */
  readonly runtime: string;
  readonly originState: (origin: DefinitionOrigin) => OriginState;
  readonly nowMs: number;
  /** Delay before a withdrawn object is deleted, in ms. */
  readonly deleteDelayMs: number;
}

/** Decides the next step for one name, and which claims are rejected. Pure. */
export function planStep(options: PlanOptions): PublishPlan {
  const { live, claims, runtime, originState } = options;
  const current = live && (originOfPublished(live) ?? lostLabelOrigin(live, options));
  if (live !== undefined && current === undefined) return rejectAll(claims, 'user', '');
  const ownerRuntime = live && runtimeOf(live);
  if (ownerRuntime !== undefined && ownerRuntime !== runtime)
    return rejectAll(claims, 'runtime', ownerRuntime);
  const ordered = claims.toSorted((a, b) => a.parsed.manifest.sinceMs - b.parsed.manifest.sinceMs);
  const owner = ownerOf(ordered, current, originState);
  const text = owner?.parsed.manifest.file ?? (current === undefined ? '' : originText(current));
  const others = ordered.filter((each) => each !== owner);
  return { ...rejectAll(others, 'manifest', text), step: stepFor(options, owner, current) };
}

/**
 * Returns the claim that owns the name: the one the object was published from, else the oldest. Undefined: none, or the object's manifest
 * may exist but cannot be read.
 */
function ownerOf(
  ordered: readonly NameClaim[],
  current: DefinitionOrigin | undefined,
  originState: PlanOptions['originState'],
): NameClaim | undefined {
  const owner = ordered.find(
    (claim) => current !== undefined && isSameOrigin(originOf(claim), current),
  );
  if (owner !== undefined) return owner;
  return current !== undefined && originState(current) === 'unknown' ? undefined : ordered[0];
}

/** Origin of a published object whose source label was removed. The label is restored while the manifest exists. */
function lostLabelOrigin(
  live: KubeObject,
  { claims, runtime }: PlanOptions,
): DefinitionOrigin | undefined {
  const ref = live.metadata.annotations?.[sourceRefAnnotation];
  if (ref === undefined || runtimeOf(live) !== runtime) return undefined;
  return claims.map(originOf).find((origin) => origin.ref === ref);
}

function stepFor(
  { live, originState, nowMs, deleteDelayMs: patienceMs }: PlanOptions,
  owner: NameClaim | undefined,
  current: DefinitionOrigin | undefined,
): PublishStep {
  // The controller removes the finalizer; then the object is recreated.
  if (live?.metadata.deletionTimestamp !== undefined) return { kind: 'none' };
  if (owner !== undefined) {
    const isValid = owner.document.located !== undefined;
    return { kind: isValid ? 'publish' : 'reject', claim: owner };
  }
  if (live === undefined || current === undefined || originState(current) !== 'read')
    return { kind: 'none' };
  const sinceMs = withdrawnAtMs(live);
  if (sinceMs === undefined) return { kind: 'withdraw' };
  const leftMs = sinceMs + patienceMs - nowMs;
  return leftMs > 0 ? { kind: 'wait', forMs: leftMs } : { kind: 'delete' };
}

function rejectAll(
  claims: readonly NameClaim[],
  reason: RejectedClaim['reason'],
  owner: string,
): PublishPlan {
  return { step: { kind: 'none' }, rejected: claims.map((claim) => ({ claim, reason, owner })) };
}
