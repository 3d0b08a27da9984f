import type { StoredObject } from '#kube/roles.ts';
import { identityOfObject } from '../identity.ts';
import { isTerminating } from '../ownership-claims.ts';
import { unavailable } from '../pass/other-clusters.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { isOrphaned } from '../removal/removal-rules.ts';
import { objectText } from '../secrecy.ts';
import { belowPartition, shareOf } from './apply-rolling.ts';
import { cachedObject } from './cached-object.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';
import type { ElementApplier, Sequence } from './sequence.ts';
import { earlierObjects, inDeletionOrder, remaining, resultOf, type Surge } from './surge.ts';

/**
 * Creates elements beside the objects of earlier names, at most `maxSurge` beyond the number of elements; `deferral.ts` keeps the earlier
 * ones until their successors are ready. All of it follows from the objects that exist, so a restart or an edit changes nothing.
 * @param base Applies the others.
 */
export function applySurging(base: Sequence, surge: Surge): Sequence {
  return async (pass, child, applier) => {
    const found = earlierObjects(pass, child.plan);
    if (found.length === 0) return base(pass, child, applier);
    const missing = missingElements(pass, child);
    const standIns = standInsOf(surge, { child, missing, earlier: found });
    const staying = new Set(standIns.values());
    // Objects that are released are not waited for: they stay, and no longer belong to the resource.
    const earlier = found.filter((stored) => staying.has(stored) || !isOrphaned(pass, stored));
    // They are desired: neither deleted nor counted as earlier ones.
    for (const stored of standIns.values())
      pass.findings.desiredObjects.set(identityOfObject(stored), child.plan.id);
    const mayCreate = creatable(pass, surge, { child, missing, earlier, standIns, applier });
    const waitingFor = `${nextToGo(surge, { child, earlier, standIns })} to be deleted`;
    return base(pass, child, {
      ...applier,
      async apply(each, other) {
        const standIn = standIns.get(each);
        if (standIn !== undefined) return applier.keep(standInResult(child, each, standIn));
        const isHeld = missing.has(each) && !mayCreate.has(each) && !applier.isHeld(each);
        return applier.apply(each, other ?? (isHeld ? waitingFor : undefined));
      },
    });
  };
}

interface Found {
  readonly child: ResolvedChild;
  readonly missing: ReadonlySet<ResolvedElement>;
  readonly earlier: readonly StoredObject[];
  readonly standIns: ReadonlyMap<ResolvedElement, StoredObject>;
  readonly applier: ElementApplier;
}

/** The elements without an object, in clusters that can be used. */
function missingElements(pass: Pass, { elements }: ResolvedChild): ReadonlySet<ResolvedElement> {
  return new Set(
    elements.filter(
      (each) =>
        each.kind === 'rendered' &&
        isUsable(pass, each) &&
        cachedObject(pass, each.intent) === undefined,
    ),
  );
}

function isUsable(pass: Pass, each: ResolvedElement): boolean {
  return each.kind !== 'rendered' || unavailable(pass, each.intent.ref.gvk) === undefined;
}

/** The earlier objects that missing elements below the partition keep, the first one for the first element. */
function standInsOf(
  { partition }: Surge,
  { child: { elements }, missing, earlier }: Pick<Found, 'child' | 'missing' | 'earlier'>,
): ReadonlyMap<ResolvedElement, StoredObject> {
  const below = elements.slice(0, partition).filter((each) => missing.has(each));
  const pairs = remaining(earlier).flatMap((stored, index) => {
    const each = below[index];
    return each === undefined ? [] : [[each, stored] as const];
  });
  return new Map(pairs);
}

function standInResult(
  { plan }: ResolvedChild,
  each: ResolvedElement,
  stored: StoredObject,
): ElementResult {
  return { ...resultOf(plan, stored, each.element), notice: belowPartition };
}

/** The missing elements that may be created now. */
function creatable(
  pass: Pass,
  surge: Surge,
  { child, missing, earlier, standIns, applier }: Found,
): ReadonlySet<ResolvedElement> {
  const elements = child.elements.filter((each) => isUsable(pass, each));
  // The objects of elements that could not be rendered are among the earlier ones.
  const rendered = elements.filter(({ kind }) => kind === 'rendered');
  const existing = rendered.length - missing.size + earlier.length;
  const room = elements.length + shareOf(surge.maxSurge, elements.length) - existing;
  const waiting = [...missing].filter((each) => !standIns.has(each) && !applier.isHeld(each));
  // With `ordered`, the first one comes first in any case.
  const isReversed = surge.order === 'Descending' && !child.plan.ordered;
  return new Set((isReversed ? waiting.reverse() : waiting).slice(0, Math.max(0, room)));
}

/** The earlier object whose deletion comes next, for people. */
function nextToGo(
  surge: Surge,
  { child: { plan }, earlier, standIns }: Pick<Found, 'child' | 'earlier' | 'standIns'>,
): string {
  const staying = new Set(standIns.values());
  const leaving = earlier.filter((stored) => !staying.has(stored));
  const next =
    leaving.find(({ object }) => isTerminating(object)) ?? inDeletionOrder(surge, leaving)[0];
  const { kind, metadata } = (next ?? earlier[0])?.object ?? {};
  return kind === undefined || metadata === undefined
    ? 'an earlier object'
    : objectText(kind, metadata.name, plan);
}
