import type { StoredObject } from '../../kube/roles.ts';
import { definitionLabel, ownerUidLabel, selectedByAnnotation } from '../names.ts';
import type { OperatorContext } from '../pass/context.ts';
import { controllersOf } from '../wake/child-watch.ts';

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
