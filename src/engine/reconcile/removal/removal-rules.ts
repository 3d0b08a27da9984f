import type { OperatorPlan } from '#compile';
import { type Cascade, isDataObject } from '#definition';
import type { StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  cascadeAnnotation,
  childLabel,
  deleteWhenAnnotation,
  deletionPolicyAnnotation,
  holdsDataAnnotation,
  indexAnnotation,
  pruneAnnotation,
} from '#util/stored-names.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import { childIdOf, identityOfObject, kindOf, type ObjectAt, refOfStored } from '../identity.ts';
import { childPlanOf, disclosureOf, planOfChild } from '../ownership/is-child.ts';
import { isTerminating } from '../ownership-claims.ts';
import { keptBecause } from '../pass/feature.ts';
import type { Pass } from '../pass/pass.ts';
import type { PruneCandidate } from '../prune-candidate.ts';
import { isNamePublic } from '../secrecy.ts';

/** Is the object released instead of deleted? Its annotation counts too: its definition may have changed. */
export function isOrphaned(pass: Pass, stored: ObjectAt): boolean {
  return (
    stored.object.metadata.annotations?.[deletionPolicyAnnotation] === 'Orphan' ||
    childPlanOf(pass, stored)?.deletionPolicy === 'Orphan'
  );
}

/** Does the deletion of the object lose data? Its child decides, then its annotation (its definition may have changed), then its kind. */
export function holdsData(plan: OperatorPlan, stored: ObjectAt): boolean {
  const { object } = stored;
  const { labels, annotations } = object.metadata;
  const declared = planOfChild(plan, labels?.[childLabel], kindOf(stored))?.holdsData;
  const recorded = annotations?.[holdsDataAnnotation];
  return declared ?? (recorded === undefined ? isDataObject(object) : recorded === 'true');
}

/**
 * Why an object that holds data may not be recreated: a changed definition waits for approval. Undefined: it may be, or it holds none.
 */
export function recreationBlocker(pass: Pass, live: StoredObject): string | undefined {
  if (pass.features.length === 0 || !holdsData(pass.context.plan, live)) return undefined;
  return keptBecause(pass, pruneCandidatesOf(pass, [live]));
}

/** Is the object kept until all children are ready? Its child decides; the annotation counts if the definition no longer has the child. */
export function isPrunedAfterReady(pass: Pass, stored: ObjectAt): boolean {
  const plan = childPlanOf(pass, stored);
  if (plan !== undefined) return plan.prunesAfterReady === true;
  return stored.object.metadata.annotations?.[pruneAnnotation] === 'AfterReady';
}

/** What happens to the dependents of an object? Its child decides; the annotation counts if the definition no longer has the child. */
export function cascadeOf(pass: Pass, stored: ObjectAt): Cascade {
  const plan = childPlanOf(pass, stored);
  const recorded = stored.object.metadata.annotations?.[cascadeAnnotation];
  if (plan !== undefined) return plan.cascade ?? 'Background';
  return recorded === 'Orphan' || recorded === 'Foreground' ? recorded : 'Background';
}

/** Does the object have `deleteWhen` by its annotation? */
function hasDeleteCondition({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[deleteWhenAnnotation] !== undefined;
}

/** Objects to delete in sequence, each after the previous one is deleted. */
export type Chain = readonly StoredObject[];

/** Elements of an ordered child form a chain, from the last; every other object is a chain of its own. */
export function chainsOf(pass: Pass, leaving: readonly StoredObject[]): readonly Chain[] {
  const chains = new Map<string, StoredObject[]>();
  for (const stored of leaving) {
    const { metadata } = stored.object;
    const id = isOrdered(pass, stored)
      ? `${stored.object.kind} of ${metadata.labels?.[childLabel]}`
      : identityOfObject(stored);
    const chain = chains.get(id) ?? [];
    chains.set(id, chain);
    chain.push(stored);
  }
  return [...chains.values()].map((chain) => chain.sort(lastFirst));
}

/** Is it an element of an ordered child? */
export function isOrdered(pass: Pass, stored: ObjectAt): boolean {
  const plan = childPlanOf(pass, stored);
  if (plan !== undefined) return plan.ordered && plan.isList;
  return stored.object.metadata.annotations?.[indexAnnotation] !== undefined;
}

/** Terminating objects come first: they are waited for. */
function lastFirst({ object: a }: StoredObject, { object: b }: StoredObject): number {
  const leaving = Number(isTerminating(b)) - Number(isTerminating(a));
  if (leaving !== 0) return leaving;
  return indexOf(b) - indexOf(a) || (a.metadata.name < b.metadata.name ? 1 : -1);
}

/** Its index in the list; the number in its name if it was created before its child was `ordered`. */
function indexOf({ metadata }: KubeObject): number {
  const index = metadata.annotations?.[indexAnnotation] ?? /\d+$/.exec(metadata.name)?.[0];
  return Number(index ?? 0);
}

/** Does the child's `deleteWhen` allow the deletion of an object? */
export type DeletePermission =
  | { readonly kind: 'granted' }
  /** It is kept; `message` has the reason, for people. */
  | { readonly kind: 'held'; readonly message: string }
  | { readonly kind: 'failed'; readonly problem: Problem };

const granted: DeletePermission = { kind: 'granted' };

/**
 * Evaluates `deleteWhen` for an object to delete (dropped, replaced, or with its resource). It is evaluated again when something it reads
 * changes.
 */
export async function deletePermission(
  pass: Pass,
  stored: StoredObject,
): Promise<DeletePermission> {
  const { object } = stored;
  const plan = childPlanOf(pass, stored);
  if (plan === undefined || !plan.hasDeleteWhen) {
    // A valid definition without `deleteWhen` allows it; a broken one cannot be evaluated.
    return pass.context.isFinalizeOnly && hasDeleteCondition(object)
      ? { kind: 'failed', problem: broken }
      : granted;
  }
  const may = await pass.desiredPhase.deleteWhen(plan.id, object);
  switch (may.kind) {
    case 'value':
      return may.value ? granted : { kind: 'held', message: 'kept until "deleteWhen" is true' };
    case 'missing':
      return { kind: 'held', message: 'kept until "deleteWhen" is true' };
    case 'waiting':
      return { kind: 'held', message: `kept: "deleteWhen" waits for ${may.on.join(', ')}` };
    case 'failed':
      return { kind: 'failed', problem: problemOfRender(may.failure) };
  }
}

const broken: Problem = {
  reason: 'DefinitionBroken',
  message: 'The definition is broken, so that "deleteWhen" cannot be evaluated: fix the definition',
  code: 'definition-broken',
  kind: 'waiting',
};

/** The undesired objects that would be deleted: not released ones, and not those already terminating. */
export function pruneCandidatesOf(
  pass: Pass,
  undesired: readonly StoredObject[],
): readonly PruneCandidate[] {
  return undesired
    .filter((stored) => !isTerminating(stored.object) && !isOrphaned(pass, stored))
    .map((stored) => ({
      ref: refOfStored(stored),
      uid: stored.object.metadata.uid ?? '',
      childId: childIdOf(stored.object),
      ...(holdsData(pass.context.plan, stored) && { dataTitle: titleOf(pass, stored) }),
    }));
}

/** `PersistentVolumeClaim default/data in cluster "paris-1"`. Without the name if it may come from a Secret. */
function titleOf(pass: Pass, stored: ObjectAt): string {
  const { object, cluster } = stored;
  const { kind, metadata } = object;
  const { namespace, name } = metadata;
  const where = cluster === undefined ? '' : ` in cluster "${cluster}"`;
  const isPublic = isNamePublic(disclosureOf(pass, stored));
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  return `${kind} ${isPublic ? place : `of child "${childIdOf(object)}"`}${where}`;
}
