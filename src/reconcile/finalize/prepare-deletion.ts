import type { ChildPlan, ExpressionInput } from '../../compile/index.ts';
import type { CacheEvent } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import { keyOf } from '../../util/kube-object.ts';
import { onDeleteAnnotationOf, orphaningAnnotationOf } from '../../util/stored-names.ts';
import { applyTier } from '../child/apply-tiers.ts';
import { liveOf, presentInput } from '../child/element-result.ts';
import { readinessOfElement } from '../child/readiness.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { isAllListed, observeChildren } from '../observe/observe-children.ts';
import { observeMembers } from '../observe/observe-members.ts';
import { observeReads } from '../observe/observe-reads.ts';
import { placesOf } from '../ownership/placement.ts';
import {
  clusterWrite,
  type ElementResult,
  type Pass,
  type PassInput,
  requestError,
} from '../pass/pass.ts';
import type { ResourceState } from '../pass/resource-state.ts';
import { annotateResource } from '../resource/write-metadata.ts';
import { publicContent } from '../secrecy.ts';
import { isKnown, listOf } from '../watch/informer-waits.ts';
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
  await observeExisting(pass);
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

/** Passes the existing children to expressions during a deletion. Deleted ones are not waited for. */
export async function observeExisting(pass: Pass): Promise<void> {
  const { children, onDelete } = pass.context.plan;
  if (onDelete === undefined && !children.some(({ hasDeleteWhen }) => hasDeleteWhen)) return;
  await observeMembers(pass, placesOf(pass));
  await observeChildren(pass);
  for (const child of children) pass.desiredPhase.setChild(child.id, seenOf(pass, child));
  await observeReads(pass);
}

function seenOf(pass: Pass, child: ChildPlan): ExpressionInput {
  if (child.placement === undefined) {
    const { informer } = pass.context.watches.children(child.gvk);
    if (!isKnown(informer)) return { state: 'waiting', on: listOf(informer) };
  } else if (!isAllListed(pass, child))
    return { state: 'waiting', on: `the list of ${child.gvk.kind} objects in every cluster` };
  const input = presentInput(
    child.isList,
    liveOf(pass, child).map(({ object }) => object),
  );
  return input.state === 'absent' ? { ...input, why: `child "${child.id}" does not exist` } : input;
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

/** Reads the namespace from the server; a watch is not worth it. If the request is denied, the namespace counts as active. */
async function isNamespaceTerminating(pass: Pass): Promise<boolean | Problem> {
  const { context, namespace, signal } = pass;
  if (namespace === undefined) return false;
  try {
    const ref = { gvk: namespaceKind, name: namespace };
    const found = await context.cluster.get(ref, clusterWrite(pass), signal);
    return found?.object.metadata.deletionTimestamp !== undefined;
  } catch (thrown) {
    const error = requestError(thrown, pass);
    return error.isPermanent ? false : problemOfRequest(error, { about: publicContent });
  }
}

const namespaceKind = gvkOf('v1', 'Namespace');

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
