import type { Outcome } from '../../controller/index.ts';
import type { ObjectRef, StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { parseKey } from '../../util/object-key.ts';
import { observeExisting } from '../finalize/prepare-deletion.ts';
import { definitionLabel, ownerUidLabel, selectedByAnnotation } from '../names.ts';
import { hasFinalizer, isTerminating } from '../owner.ts';
import { isChild } from '../ownership/is-child.ts';
import type { OperatorContext, PassTurn } from '../pass/context.ts';
import { beginPass, isDone, loggerOf, type PrunedObject } from '../pass/pass.ts';
import { createResourceState } from '../pass/resource-state.ts';
import { removeObjects } from '../removal/remove-objects.ts';
import { controllersOf } from '../wake/child-watch.ts';

/**
 * Runs a key that is no resource of the definition, or not any more. An object that stopped matching the selectors of `for` loses its
 * children. One that no longer matches because the definition was edited keeps them: its children say under which selectors they
 * were made. Of one that is gone the garbage collector takes care.
 * @returns undefined when nothing is left to be done.
 */
export async function runUnmatched(
  context: OperatorContext,
  key: string,
  turn: PassTurn,
): Promise<Outcome | undefined> {
  const made = madeUnderTheseSelectors(context, key);
  if (made.length === 0) {
    context.departed.delete(key);
    return undefined;
  }
  const resource = await whoIs(context, key, made, turn.signal);
  if (resource === undefined || isTerminating(resource)) return undefined;
  // It matches again, or matched when it was asked for: its watch is about to say so.
  if (context.watches.resources.membership.has(resource)) return undefined;
  return removeAll(context, { key, resource, made, turn });
}

/** Children that were made for an object of this key while the selectors were what they are. */
function madeUnderTheseSelectors(context: OperatorContext, key: string): readonly StoredObject[] {
  const { watches } = context;
  const { digest } = watches.resources.membership;
  if (digest === undefined) return [];
  const { namespace, name } = parseKey(key);
  const uid = watches.resources.unmatched(namespace, name)?.object.metadata.uid;
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

/** The object of this key as it is now. A watch with a selector does not tell why an object left it: the server is asked, once. */
async function whoIs(
  context: OperatorContext,
  key: string,
  made: readonly StoredObject[],
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { watches, cluster, plan, departed } = context;
  const { namespace, name } = parseKey(key);
  const known = watches.resources.unmatched(namespace, name);
  if (known !== undefined) return known.object;
  const uids = made.map(({ object }) => object.metadata.labels?.[ownerUidLabel] ?? '');
  const gone = departed.get(key);
  if (gone !== undefined && uids.every((uid) => gone.has(uid))) return undefined;
  const ref: ObjectRef = {
    gvk: plan.definition.kind.gvk,
    name,
    ...(namespace === '' ? {} : { namespace }),
  };
  const flow = { name: plan.name, priority: 'world' } as const;
  const found = await cluster.get(ref, { flow }, signal);
  const uid = found?.object.metadata.uid;
  context.departed.set(key, new Set(uids.filter((each) => each !== uid)));
  return found?.object;
}

interface Removal {
  readonly key: string;
  readonly resource: KubeObject;
  readonly made: readonly StoredObject[];
  readonly turn: PassTurn;
}

async function removeAll(
  context: OperatorContext,
  { key, resource, made, turn }: Removal,
): Promise<Outcome | undefined> {
  const { uid = '' } = resource.metadata;
  const known = context.states.get(key);
  const state = known?.uid === uid ? known : createResourceState(uid);
  context.states.set(key, state);
  const pass = beginPass({ context, key, resource, state, turn });
  const ours = made.filter((stored) => isChild(pass, stored));
  await observeExisting(pass);
  const why = 'The resource does not match the selectors any more';
  const removed = await removeObjects(pass, ours, { why });
  const count = removed.filter((each) => each.state !== 'failed').length;
  if (pass.did.hasWritten)
    loggerOf(pass).info({ pruned: count }, 'Resource stopped matching, its children go');
  pass.dependencies.finish();
  // Once nothing is left it is let go.
  const isOver = removed.length > 0 && removed.every(isDone);
  if (isOver && hasFinalizer(resource, context.plan.name)) context.follow(key);
  return outcomeOf(context, key, removed) ?? whileHeld(removed);
}

/** What is held is asked about again when something changes that its guard has read: that must not be forgotten. */
function whileHeld(removed: readonly PrunedObject[]): Outcome | undefined {
  return removed.some(({ state }) => state === 'held') ? { kind: 'done' } : undefined;
}

function outcomeOf(
  { rights, plan }: OperatorContext,
  key: string,
  removed: readonly PrunedObject[],
): Outcome | undefined {
  const problems = removed.flatMap(({ problem }) => problem ?? []);
  rights.retain(
    key,
    problems.flatMap(({ right }) => right ?? []),
  );
  const [first] = problems;
  if (first === undefined) return undefined;
  const temporary = problems.find(({ error }) => error !== undefined)?.error;
  if (temporary !== undefined) throw temporary;
  return {
    kind: 'failed',
    afterMs: plan.definition.controller.retry.permanentMs,
    reason: first.reason,
  };
}

/** Keys of objects that have stopped matching the selectors of `for` while nobody looked. */
export function unmatchedKeys(context: OperatorContext): ReadonlySet<string> {
  const { watches, plan } = context;
  const { digest } = watches.resources.membership;
  const keys = new Set<string>();
  for (const { object } of ownerless(context)) {
    if (object.metadata.annotations?.[selectedByAnnotation] !== digest) continue;
    const owner = watches.resources.keyOfUid(object.metadata.labels?.[ownerUidLabel] ?? '');
    if (owner !== undefined) keys.add(owner);
    for (const key of controllersOf(object, plan)) keys.add(key);
  }
  return keys;
}

/** How many objects keep children that were made under other selectors than the definition has now. */
export function countLeftInPlace(context: OperatorContext): number {
  const { digest } = context.watches.resources.membership;
  const owners = new Set<string | undefined>();
  for (const { object } of ownerless(context)) {
    if (object.metadata.annotations?.[selectedByAnnotation] === digest) continue;
    owners.add(object.metadata.labels?.[ownerUidLabel]);
  }
  return owners.size;
}

/** Children of the definition whose owner is no resource of it. */
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
