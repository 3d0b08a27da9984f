import type { KubeObject } from '#util/kube-object.ts';
import { sourceRefAnnotation } from '#util/stored-names.ts';
import { type DefinitionOrigin, isSameOrigin, originText } from '../desired-definition.ts';
import type { SourceManifest } from '../sources/definition-source.ts';
import type { Manifests } from './manifest-reader.ts';
import type { NamedDocument } from './parsed-manifest.ts';
import { originOfPublished, runtimeOf, withdrawnAtMs } from './publication.ts';

/**
 * State of an origin (a ConfigMap or a directory). `read`: all its names are known; `unknown`: it may contain names that cannot be read;
 * `elsewhere`: this runtime does not read it.
 */
export type OriginState = 'read' | 'unknown' | 'elsewhere';

/** The publisher's next step for one name. */
export type PublishStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'publish'; readonly document: NamedDocument }
  /** The document has errors: write them on the object, and create it if it does not exist. */
  | { readonly kind: 'reject'; readonly document: NamedDocument }
  /** The manifest cannot be read: write the errors on the object, one line each. */
  | { readonly kind: 'note-unreadable'; readonly errors: readonly string[] }
  /** The manifest was removed: write the time on the object. */
  | { readonly kind: 'withdraw' }
  /** Stay withdrawn for this time. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** Delete the object after the delay. */
  | { readonly kind: 'delete' };

/** A document that is not published because its name belongs to another owner. */
export interface RejectedClaim {
  /** The definition's name. */
  readonly name: string;
  readonly manifest: SourceManifest;
  /** Which definition is not published, and why. */
  readonly message: string;
}

interface PublishPlan {
  readonly step: PublishStep;
  readonly rejected: readonly RejectedClaim[];
}

export interface PlanOptions {
  /** The live object. Undefined: none. */
  readonly live: KubeObject | undefined;
  /** The documents of that name. */
  readonly claims: readonly NamedDocument[];
  /** Name of this runtime. */
  readonly runtime: string;
  readonly manifests: Pick<Manifests, 'originState' | 'sourceError' | 'obstacles'>;
  readonly nowMs: number;
  /** Delay before a withdrawn object is deleted, in ms. */
  readonly deleteDelayMs: number;
}

/** Decides the next step for one name, and which claims are rejected. Pure. */
export function planStep(options: PlanOptions): PublishPlan {
  const { live, claims, runtime, manifests } = options;
  const current = live && (originOfPublished(live) ?? lostLabelOrigin(live, options));
  if (live !== undefined && current === undefined)
    return rejectAll(claims, 'a user created an OperatorDefinition of that name');
  const ownerRuntime = live && runtimeOf(live);
  if (ownerRuntime !== undefined && ownerRuntime !== runtime)
    return rejectAll(
      claims,
      `the OperatorDefinition of that name belongs to the runtime "${ownerRuntime}"; if that no longer runs, "--take-over ${ownerRuntime}" continues it`,
    );
  const ordered = claims.toSorted((a, b) => a.manifest.sinceMs - b.manifest.sinceMs);
  const owner = ownerOf(ordered, current, manifests);
  const text = owner?.manifest.file ?? (current === undefined ? '' : originText(current));
  const others = ordered.filter((each) => each !== owner);
  const step = stepFor(options, owner, current);
  return { ...rejectAll(others, `the name is published from ${text}`), step };
}

/**
 * Returns the claim that owns the name: the one the object was published from, else the oldest. Undefined: none, or the object's manifest
 * may exist but cannot be read.
 */
function ownerOf(
  ordered: readonly NamedDocument[],
  current: DefinitionOrigin | undefined,
  { originState }: PlanOptions['manifests'],
): NamedDocument | undefined {
  const owner = ordered.find(
    ({ manifest }) => current !== undefined && isSameOrigin(manifest.origin, current),
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
  return claims.find(({ manifest }) => manifest.origin.ref === ref)?.manifest.origin;
}

function stepFor(
  { live, manifests, nowMs, deleteDelayMs }: PlanOptions,
  owner: NamedDocument | undefined,
  current: DefinitionOrigin | undefined,
): PublishStep {
  // The controller removes the finalizer; then the object is recreated.
  if (live?.metadata.deletionTimestamp !== undefined) return { kind: 'none' };
  // The last manifests stay active, but whether they are the newest is unknown.
  const sourceError = current && manifests.sourceError(current);
  if (sourceError !== undefined) return { kind: 'note-unreadable', errors: [sourceError] };
  if (owner !== undefined) {
    const isValid = owner.located !== undefined;
    return { kind: isValid ? 'publish' : 'reject', document: owner };
  }
  if (live === undefined || current === undefined) return { kind: 'none' };
  const state = manifests.originState(current);
  const errors = state === 'unknown' ? manifests.obstacles(current) : [];
  if (errors.length > 0) return { kind: 'note-unreadable', errors };
  if (state !== 'read') return { kind: 'none' };
  const sinceMs = withdrawnAtMs(live);
  if (sinceMs === undefined) return { kind: 'withdraw' };
  const leftMs = sinceMs + deleteDelayMs - nowMs;
  return leftMs > 0 ? { kind: 'wait', forMs: leftMs } : { kind: 'delete' };
}

function rejectAll(claims: readonly NamedDocument[], why: string): PublishPlan {
  const rejected = claims.map(({ name, manifest }) => {
    const { file, origin } = manifest;
    const which = `The definition "${name}" in ${file} (${originText(origin)})`;
    return { name, manifest, message: `${which} is not published: ${why}` };
  });
  return { step: { kind: 'none' }, rejected };
}
