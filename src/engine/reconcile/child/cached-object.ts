import type { StoredObject } from '#kube/roles.ts';
import { ownerUidLabel } from '#util/stored-names.ts';
import type { Intent } from '../intent/intent.ts';
import type { PassInput } from '../pass/pass.ts';

/** The object in the cache: among the children, or from a watch by name. */
export function cachedObject({ context }: PassInput, { ref }: Intent): StoredObject | undefined {
  const watch = context.watches.findChildren(ref.gvk);
  return (
    watch?.informer.get(ref.namespace, ref.name) ?? unlessLabelled(context.watches.named.peek(ref))
  );
}

/** Objects with our label come only from the watch on children: a lingering watch by name may be stale. */
function unlessLabelled(stored: StoredObject | undefined): StoredObject | undefined {
  return stored?.object.metadata.labels?.[ownerUidLabel] === undefined ? stored : undefined;
}
