import type { Outcome } from '#controller';
import type { StoredObject } from '#kube/roles.ts';
import { type KubeObject, parseKey } from '#util/kube-object.ts';
import {
  definitionLabel,
  ownerUidLabel,
  pausedAnnotation,
  selectedByAnnotation,
} from '#util/stored-names.ts';
import { observeForDeletion } from '../child/observe-existing.ts';
import { kindAt, refTo } from '../identity.ts';
import { forgetDue, setDue } from '../ledger/due.ts';
import { isChild } from '../ownership/is-child.ts';
import { hasFinalizer, isPaused, isTerminating } from '../ownership-claims.ts';
import type { OperatorContext, PassTurn } from '../pass/context.ts';
import { beginPass, isRemoved, loggerOf, type PassRequest } from '../pass/pass.ts';
import { untilTimeChange } from '../pass/time-changes.ts';
import { removeObjects } from '../removal/remove-objects.ts';
import { outcomeOfProblems } from '../report/outcome-of-pass.ts';
import { controllerKeyOf } from '../watch/child-watch.ts';

/**
 * Reconciles a key without a resource of the definition. An object that stopped matching the selectors of `for` loses its children. If
 * the definition was edited, it keeps them: an annotation of the children has the selectors under which they were created. The garbage
 * collector deletes the children of a deleted object. A paused object keeps them until it is resumed.
 * @returns undefined when nothing is left to do.
 */
export async function runUnmatched(
  context: OperatorContext,
  key: string,
  turn: PassTurn,
): Promise<Outcome | undefined> {
  const children = childrenOfCurrentSelectors(context, key);
  if (children.length === 0) {
    context.deletedOwners.delete(key);
    return undefined;
  }
  const resource = await currentOwner(context, key, children, turn.signal);
  if (resource === undefined || isTerminating(resource)) return undefined;
  // It matches again, or matched at the time of the request: its event is about to arrive.
  if (context.watches.resources.membership.has(resource)) return undefined;
  const request = { key, resource, turn };
  if (isPaused(resource)) {
    const owner = await pausedOwner(context, request);
    if (owner === undefined) return undefined;
    if (isPaused(owner)) return { kind: 'done' };
  }
  return removeAll(context, request, children);
}

/** The fields of a paused object that are waited for. */
const pausedPaths = [['metadata', 'annotations', pausedAnnotation]] as const;

/**
 * A paused object, from a watch by name: that of the resources does not show it any more, and the end of the pause must enqueue it.
 * @returns the object as that watch has it; undefined: it is deleted
 */
async function pausedOwner(
  context: OperatorContext,
  request: PassRequest,
): Promise<KubeObject | undefined> {
  const { resource } = request;
  const pass = beginPass(context, request);
  const gvk = kindAt(context.plan.definition.kind.gvk, undefined);
  const ref = refTo(gvk, pass.namespace, resource.metadata.name);
  await context.watches.prepareNamed([ref], pass.signal);
  const { state, stored } = pass.dependencies.named(ref, pausedPaths);
  pass.dependencies.finish();
  forgetDue(pass.state.ledger);
  return state.kind === 'synced' ? stored?.object : resource;
}

/** Children that were created for an object of this key under the current selectors. */
function childrenOfCurrentSelectors(
  context: OperatorContext,
  key: string,
): readonly StoredObject[] {
  const { watches } = context;
  const { digest } = watches.resources.membership;
  if (digest === undefined) return [];
  const uid = watches.resources.unmatched(key)?.object.metadata.uid;
  const found = [...watches.allChildren()].flatMap((watch) => [
    ...watch.controlledBy(key),
    ...(uid === undefined ? [] : watch.labelledWith(uid)),
  ]);
  return [...new Set(found)].filter(
    ({ object: { metadata } }) =>
      metadata.labels?.[definitionLabel] === context.plan.name &&
      metadata.annotations?.[selectedByAnnotation] === digest,
  );
}

/** The current object of this key. A watch with a selector does not show why an object left it, so the server is asked once. */
async function currentOwner(
  context: OperatorContext,
  key: string,
  children: readonly StoredObject[],
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { watches, cluster, plan, deletedOwners } = context;
  const known = watches.resources.unmatched(key);
  if (known !== undefined) return known.object;
  const uids = children.map(({ object }) => object.metadata.labels?.[ownerUidLabel] ?? '');
  const deleted = deletedOwners.get(key);
  if (deleted !== undefined && uids.every((uid) => deleted.has(uid))) return undefined;
  const { namespace, name } = parseKey(key);
  const gvk = kindAt(plan.definition.kind.gvk, undefined);
  const ref = refTo(gvk, namespace || undefined, name);
  const flow = { name: plan.name, priority: 'object' } as const;
  const found = await cluster.get(ref, { flow }, signal);
  const uid = found?.object.metadata.uid;
  context.deletedOwners.set(key, new Set(uids.filter((each) => each !== uid)));
  return found?.object;
}

async function removeAll(
  context: OperatorContext,
  request: PassRequest,
  children: readonly StoredObject[],
): Promise<Outcome | undefined> {
  const { resource } = request;
  const pass = beginPass(context, request);
  const ours = children.filter((stored) => isChild(pass, stored));
  await observeForDeletion(pass);
  const why = 'The resource no longer matches the selectors of "for"';
  const removed = await removeObjects(pass, ours, { why });
  const count = removed.filter((each) => each.state !== 'failed').length;
  if (pass.effects.hasWritten)
    loggerOf(pass).info({ pruned: count }, 'Resource no longer matches, deleting its children');
  pass.dependencies.finish();
  // With all children removed, the finalizer can be removed.
  const isOver = removed.length > 0 && removed.every(isRemoved);
  if (isOver && hasFinalizer(resource, context.plan.name)) pass.again('children-removed');
  const problems = removed.flatMap(({ problem }) => problem ?? []);
  const outcome = outcomeOfProblems(pass, problems, { kind: 'unchanged' });
  // Held objects are checked again when a read of their guard changes, or the time: the state of the resource must be kept.
  const isHeld = removed.some(({ state }) => state === 'held');
  setDue(pass, 'timeout', isHeld ? untilTimeChange(pass) : undefined);
  return problems.length > 0 || isHeld ? outcome : undefined;
}

/** Keys of objects that stopped matching the selectors of `for` while no process was running. */
export function unmatchedKeys(context: OperatorContext): ReadonlySet<string> {
  const { watches, plan } = context;
  const { digest } = watches.resources.membership;
  const keys = new Set<string>();
  for (const { object } of ownerless(context)) {
    if (object.metadata.annotations?.[selectedByAnnotation] !== digest) continue;
    const owner = watches.resources.keyOfUid(object.metadata.labels?.[ownerUidLabel] ?? '');
    if (owner !== undefined) keys.add(owner);
    const key = controllerKeyOf(object, plan);
    if (key !== undefined) keys.add(key);
  }
  return keys;
}

/** Number of objects whose children were created under other selectors than the current ones. */
export function countUnmatched(context: OperatorContext): number {
  const { digest } = context.watches.resources.membership;
  const owners = new Set<string | undefined>();
  for (const { object } of ownerless(context)) {
    if (object.metadata.annotations?.[selectedByAnnotation] === digest) continue;
    owners.add(object.metadata.labels?.[ownerUidLabel]);
  }
  return owners.size;
}

/** Children of the definition whose owner is not a resource of it. */
function* ownerless({ watches, plan }: OperatorContext): Iterable<StoredObject> {
  const { resources } = watches;
  if (resources.membership.digest === undefined || resources.informer.state.kind !== 'synced')
    return;
  for (const watch of watches.allChildren()) {
    for (const stored of watch.informer.list()) {
      const { labels, namespace = '' } = stored.object.metadata;
      if (labels?.[definitionLabel] !== plan.name || !resources.serves(namespace)) continue;
      const owner = resources.keyOfUid(labels[ownerUidLabel] ?? '');
      if (owner === undefined || !resources.keys.has(owner)) yield stored;
    }
  }
}
