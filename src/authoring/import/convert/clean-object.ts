import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { isStored, withoutServerFields } from './server-fields.ts';

/** Metadata that a server sets. */
const serverMetadata: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
  'ownerReferences',
]);

/** Labels and annotations that belong to the tool or controller that wrote them, not to the object. */
const toolKeys =
  /^(?:meta\.helm\.sh\/|helm\.sh\/(?:chart$|hook)|kubectl\.kubernetes\.io\/(?:last-applied|restartedAt)|deployment\.kubernetes\.io\/|deprecated\.daemonset\.|batch\.kubernetes\.io\/(?:controller-uid|job-name|job-tracking)|controller-uid$|job-name$|pv\.kubernetes\.io\/|volume\.(?:beta\.)?kubernetes\.io\/(?:storage-provisioner|selected-node)|kubernetes\.io\/(?:metadata\.name|service-account\.uid)$)/;

/** An object as a user would write it: without what a server, a controller or the tool that applied it has added. Pure. */
export function cleanObject(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { readonly status?: unknown };
  const isUsers = ([name]: readonly [string, unknown]) =>
    !serverMetadata.has(name) &&
    name !== 'generateName' &&
    // Controllers add them to what is stored.
    !(name === 'finalizers' && isStored(object));
  const metadata = Object.fromEntries(Object.entries(rest.metadata).filter(isUsers));
  const kept = withoutServerFields({ ...rest, metadata } as KubeObject, object);
  return withoutTraces(kept) as KubeObject;
}

/** `null` (`creationTimestamp: null` of Pod templates), and labels and annotations of tools. */
function withoutTraces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTraces);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      if (each === null) return [];
      if (!/^(?:labels|annotations)$/.test(name) || !isJsonObject(each))
        return [[name, withoutTraces(each)]];
      const own = ownKeys(each);
      return own === undefined ? [] : [[name, own]];
    }),
  );
}

function ownKeys(value: JsonObject): JsonObject | undefined {
  const kept = Object.entries(value).filter(
    ([key, each]) =>
      !toolKeys.test(key) && !(key === 'app.kubernetes.io/managed-by' && each === 'Helm'),
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
