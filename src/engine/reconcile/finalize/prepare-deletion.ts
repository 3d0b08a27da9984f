import type { ChildPlan } from '#compile';
import type { CacheEvent } from '#kube/roles.ts';
import { keyOf } from '#util/kube-object.ts';
import { onDeleteAnnotationOf, orphaningAnnotationOf } from '#util/stored-names.ts';
import { applyTier } from '../child/apply-tiers.ts';
import { observeForDeletion } from '../child/observe-existing.ts';
import { readinessOfElement } from '../child/readiness.ts';
import type { Problem } from '../failure.ts';
import { isNamespaceTerminating } from '../observe/terminating-namespace.ts';
import type { ElementResult, Pass, PassInput } from '../pass/pass.ts';
import type { ResourceState } from '../pass/resource-state.ts';
import { annotateResource } from '../resource/write-metadata.ts';
import { type DeletionOptions, doneValue } from './deletion-options.ts';

/** Whether `onDelete` is done, so that the children can be removed. */
export interface Preparation {
  readonly isDone: boolean;
  readonly problems: readonly Problem[];
}

const done: Preparation = { isDone: true, problems: [] };
const waiting: Preparation = { isDone: false, problems: [] };

/** Applies `onDelete.children`; done once they are ready. */
export async function prepareDeletion(pass: Pass, terms: DeletionOptions): Promise<Preparation> {
  const { context, resource } = pass;
  const { plan } = context;
  await observeForDeletion(pass);
  const mark = resource.metadata.annotations?.[onDeleteAnnotationOf(plan.name)];
  if (terms.skipsOnDelete || terms.isForced) return done;
  // Only the definition has the steps and their order, and it is broken.
  if (context.isFinalizeOnly)
    return mark === undefined ? done : { isDone: false, problems: [broken] };
  if (mark === doneValue) return done;
  const children = plan.onDelete?.children ?? [];
  if (children.length === 0) return done;
  for (const tier of plan.onDelete?.tiers ?? []) await applyTier(pass, tier);
  const readiness = await readinessOf(pass, children);
  if (typeof readiness === 'object') return { isDone: false, problems: [readiness] };
  if (readiness === 'waiting') return waiting;
  const problem = await annotateResource(pass, { [onDeleteAnnotationOf(plan.name)]: doneValue });
  return problem === undefined ? done : { isDone: false, problems: [problem] };
}

async function readinessOf(
  pass: Pass,
  children: readonly ChildPlan[],
): Promise<'ready' | 'waiting' | Problem> {
  const elements = children.flatMap(({ id }) => pass.effects.children.get(id)?.elements ?? []);
  const isTerminating = elements.some(isBlocked) && (await isNamespaceTerminating(pass));
  if (typeof isTerminating === 'object') return isTerminating;
  for (const element of elements) {
    if (isImpossible(element) || (isTerminating && isBlocked(element))) continue;
    const { state } = await readinessOfElement(pass.desiredPhase, element);
    if (state !== 'Ready') return 'waiting';
  }
  return 'ready';
}

/** In a terminating namespace no objects can be created: waiting would not end. */
function isImpossible({ problem }: ElementResult): boolean {
  return problem?.code === 'namespace-terminating';
}

/** Does the object not exist and fail to be created? Its dependencies may have been deleted with the namespace. */
function isBlocked({ problem, live }: ElementResult): boolean {
  return problem !== undefined && live === undefined;
}

const broken: Problem = {
  reason: 'DefinitionBroken',
  message:
    'The definition is broken and has "onDelete": fix the definition, or annotate the resource with homeostat.dev/skip-on-delete: "true"',
  code: 'definition-broken',
  kind: 'waiting',
};

/** Set on objects that are deleted with `--cascade=orphan`, until the garbage collector has released the dependents: only briefly. */
const orphanFinalizer = 'orphan';

/** Remembers that the dependents of a resource are to be orphaned: the finalizer may be removed before a pass runs. */
export function detectOrphaning(
  states: ReadonlyMap<string, ResourceState>,
  { current }: CacheEvent,
): void {
  const metadata = current?.object.metadata;
  if (metadata?.deletionTimestamp === undefined) return;
  if (metadata.finalizers?.includes(orphanFinalizer) !== true) return;
  const state = states.get(keyOf(metadata.namespace, metadata.name));
  if (state !== undefined && state.uid === metadata.uid) state.isOrphaning = true;
}

/** Was the resource deleted with orphaned dependents? */
export function isOrphaning(pass: Pass): boolean {
  const { resource, state } = pass;
  state.isOrphaning ||= resource.metadata.finalizers?.includes(orphanFinalizer) === true;
  state.isOrphaning ||= isRecorded(pass);
  return state.isOrphaning;
}

/**
 * Records it on the resource before any object is released: another process may not see the finalizer.
 * @returns the error, if any: then no object may be removed.
 */
export async function recordOrphaning(pass: Pass): Promise<Problem | undefined> {
  if (!isOrphaning(pass) || isRecorded(pass)) return undefined;
  return annotateResource(pass, { [orphaningAnnotationOf(pass.context.plan.name)]: pass.uid });
}

/** By UID: an annotation from a restored backup belongs to a previous object. */
function isRecorded({ resource, context, uid }: PassInput): boolean {
  return resource.metadata.annotations?.[orphaningAnnotationOf(context.plan.name)] === uid;
}
